"""Take a part out of a trained translator while it runs: positions, scaling, residual connections, norms, heads.

That is another thing than training without the part: all that is left was fitted to what is gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import mul
from typing import Final, Literal, get_args

import sacrebleu
import torch

from model.analysis.corpus import OWN_CORPUS, read_text
from model.decoding.search import translate_all
from model.errors import EditError
from model.interruption import Progress, no_progress
from model.nn.edit_hooks import compile_edits
from model.nn.edits import SwitchOff
from model.nn.encoder_decoder import SITES, site_path
from model.nn.hooks import Edit, listen
from model.nn.transformer import Transformer
from model.translator import Translator

Part = Literal["positions", "scaling", "residuals", "norms", "heads"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
#: Padded source tokens of a batch: small, so that progress is told often.
TOKENS_AT_ONCE: Final = 500


@dataclass(frozen=True)
class PartOff:
    """What is taken out."""

    part: Part  #: "heads" is all heads but one of each attention
    #: the only layer, counted from 0, in which it is taken out; None for all. Positions have no layer.
    layer: int | None = None
    kept_head: int = 0  #: the head that is left where the others are taken out


@dataclass(frozen=True)
class PartScore:
    """Translations without a part, against those of the whole model."""

    off: PartOff
    bleu: float  #: of the translations without it, with the whole model's own as references: 100 where nothing changes
    unchanged: float  #: the share of the sentences whose translation stays the same


def edits_without(model: Transformer, off: PartOff) -> dict[str, Edit]:
    """Full hook name → the function that takes the part out there. Raises an EditError if there is no such part."""
    config = model.config
    if off.part == "positions":
        if config.positions == "none":
            raise EditError("This model was trained without positions, so they cannot be removed.")
        return {f"{stack}.embedding.hook_positional": torch.zeros_like for stack in ("encoder", "decoder")}
    places = [(site, layer) for site in SITES for layer in range(config.layers_of(site)) if off.layer in (None, layer)]
    if not places:
        last = max(config.num_layers, config.decoder_layers) - 1
        message = "This model has no layer {layer}: layers are numbered from 0 to {last}."
        raise EditError(message, layer=off.layer, last=last)
    if off.part == "scaling":
        if config.attention_scale == 1:
            raise EditError("This model was trained without scaling its scores, so scaling cannot be removed.")
        # Queries times √d_k undo the scaling of their scores, on the fused path.
        return {f"{site_path(*place)}.hook_query": partial(mul, 1 / config.attention_scale) for place in places}
    if off.part == "heads":
        others = [head for head in range(config.num_heads) if head != off.kept_head]
        if not others or off.kept_head >= config.num_heads:
            message = (
                "Heads in each attention of this model: {heads}. So head {kept} cannot be the only one that is kept."
            )
            raise EditError(message, heads=config.num_heads, kept=off.kept_head + 1)
        edits = [SwitchOff(site, layer, head) for site, layer in places for head in others]
        return compile_edits(edits, config.shapes, num_source=config.max_length, num_target=config.max_length)
    if off.part == "residuals" and not config.residual:
        raise EditError("This model was trained without residual connections, so they cannot be removed.")
    hook, edit = ("hook_skip", torch.zeros_like) if off.part == "residuals" else ("hook_norm", lambda norm: lambda x: x)
    return {f"{path}.{hook}": edit for path in _residuals(places)}


def translate_without(
    translator: Translator, texts: Sequence[str], off: PartOff | None, progress: Progress = no_progress
) -> list[str]:
    """The translations, decoded greedily, without a part; None for the whole model. Raises as `edits_without`.

    `progress` is called with the number of sentences done since the last call; it may end the work by an exception.
    """
    edits = {} if off is None else edits_without(translator.model, off)
    with listen(edits=edits):
        return translate_all(
            translator.model, translator.tokenizer, texts, progress=progress, tokens_per_batch=TOKENS_AT_ONCE
        )


def score_without(
    translator: Translator, offs: Sequence[PartOff], progress: Progress = no_progress
) -> tuple[PartScore, ...]:
    """Translate our own corpus whole and without each of the parts, and compare. Progress and errors as above."""
    texts = [sentence.text for sentence in read_text(OWN_CORPUS)]
    whole = translate_without(translator, texts, None, progress)
    scores = []
    for off in offs:
        without = translate_without(translator, texts, off, progress)
        bleu = sacrebleu.BLEU().corpus_score(without, [whole]).score
        same = sum(one == other for one, other in zip(without, whole, strict=True))
        scores.append(PartScore(off, bleu, same / len(whole)))
    return tuple(scores)


def _residuals(places: Sequence[tuple[str, int]]) -> list[str]:
    """The paths of all residual connections in the layers of these attentions."""
    attention = [f"{site_path(site, layer)}_residual" for site, layer in places]
    layers = dict.fromkeys(f"{site.split('.')[0]}.layers.{layer}" for site, layer in places)
    return [*attention, *(f"{layer}.feed_forward_residual" for layer in layers)]
