"""Say what cannot be shown of a model of `transformers`, and why, by what the proof found of it."""

from collections.abc import Mapping
from typing import Final

from torch import nn

from model.abilities import NO_BATCH, NO_LINKS, NO_SWITCHES, NOT_AS_THE_PAPER, View
from model.adapters import library
from model.adapters.library_parts import ADDED, NOT_ADDED
from model.adapters.norms import NORM_UNKNOWN, final_norm
from model.adapters.proof import Explored
from model.errors import said

#: What is shown of models alone that are proven exact.
_ONLY_EXACT: Final[tuple[View, ...]] = (
    "scores", "head outputs", "norms", "edits", "word choice", "circuits", "cost", "batch masks", "switches",
    "reasons", "hyperparameters",
)  # fmt: skip


def lacks_of(model: nn.Module, name: str, found: Explored, length: int | None) -> Mapping[View, str]:
    """What cannot be shown of a model of this name → one sentence that says why.

    `length`: tokens that it reads at most, where only weights are known.
    """
    kind, heads, layout = found.kind, found.heads, found.layout
    lacks: dict[View, str] = {}
    says_words = library.has_words(model)
    if kind != "encoder-decoder" or not says_words:
        lacks |= {"switches": NO_SWITCHES, "hyperparameters": NOT_AS_THE_PAPER}
    if not found.proof.is_exact or found.positions not in ADDED or kind == "image":
        lacks |= {"positional encodings": NOT_ADDED, "embeddings": NOT_ADDED}
    if kind != "encoder-decoder":
        lacks |= {"alignment links": NO_LINKS, "batch masks": NO_BATCH}
    if kind != "encoder-decoder" or not says_words:
        lacks["teacher forcing"] = said("A target and a reference need a model that writes translations.")
    says_labels = library.is_for(model, "labels") and kind in ("encoder", "decoder")
    has_norm = kind == "decoder" and says_words and final_norm(model) is not None
    if kind not in ("decoder", "encoder-decoder") or not says_words or not found.proof.is_exact:
        lacks["logit lens"] = said("The logit lens needs a decoder that predicts words.")
    if kind == "image":
        lacks["circuits"] = said(
            "QK and OV are computed only for tokens of a text; this model reads patches of a picture."
        )
        lacks["reasons"] = said(
            "Scores can be split only over tokens of a text; this model reads patches of a picture."
        )
    elif found.positions == "unknown":
        lacks["circuits"] = said(
            "It is unknown how this model ({name}) encodes positions, and so whether the score of two tokens "
            "depends on the distance between them.",
            name=name,
        )
    elif kind == "decoder" and not has_norm:
        lacks["circuits"] = NORM_UNKNOWN
    if kind == "decoder" and not says_words:
        no_head = said("This model ({name}) was saved without its output layer, so it only reads.", name=name)
        if says_labels:
            no_head = said("This model ({name}) outputs labels, not text.", name=name)
        elif not library.has_class_for(model.config, "causal"):
            no_head = said("This model ({name}) only reads, so there is nothing to decode.", name=name)
        lacks |= {"decoding": no_head, "beam": no_head, "circuits": no_head, "cost": no_head}
    if kind in ("encoder", "image"):
        only_reads = said("This model ({name}) only reads, so there is nothing to decode.", name=name)
        lacks |= {"decoding": only_reads, "beam": only_reads}
    if kind == "image":
        lacks["word choice"] = said("This model ({name}) is a vision model: it has no text output.", name=name)
    elif not says_words and kind == "decoder" and not says_labels:
        lacks["word choice"] = lacks["decoding"]
    elif not says_words and not says_labels and library.has_class_for(model.config, "masked"):
        lacks["word choice"] = said(
            "This model ({name}) was saved without the layer that predicts masked words, so there is no word whose "
            "probability a head could change. Save the original with that layer: "
            "`AutoModelForMaskedLM.from_pretrained(original).save_pretrained(folder)`.",
            name=name,
        )
    elif kind == "encoder" and not says_labels and not library.is_for(model, "masked"):
        lacks["word choice"] = said(
            "This model ({name}) reads in both directions and does not predict masked words, so there is no word whose "
            "probability a head could change.",
            name=name,
        )
    if not found.proof.is_exact:
        message = (
            "Only the attention weights of this model ({name}) are available, as transformers returns them: {reason}. "
            "The weights of all heads are kept in RAM at once, so texts may have at most {length:,} tokens."
        )
        why = said(message, name=name, reason=found.proof.why, length=length)
        lacks |= dict.fromkeys(_ONLY_EXACT, why)
    elif any((site, layer) not in layout.projections for site in heads for layer in range(len(heads[site]))):
        lacks["norms"] = said("The output projection of this model ({name}) was not found.", name=name)
        lacks.setdefault("circuits", lacks["norms"])
        lacks.setdefault("reasons", lacks["norms"])
    return lacks
