"""Headlight's own encoder–decoders as translators: Transformers, which tell all of their insides, and those before."""

from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from types import MappingProxyType
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

from model.abilities import (
    NO_BATCH,
    NO_DOT_PRODUCT,
    NO_LINKS,
    NO_SWITCHES,
    NOT_AS_THE_PAPER,
    Abilities,
    PositionScheme,
    View,
)
from model.checkpoint import model_digest
from model.config import ConvolutionalConfig, FixedVectorConfig, ModelConfig, RecurrentConfig, TransformerConfig
from model.decoding.cost import DecoderSizes, decoder_sizes
from model.decoding.search import EXTRA_LENGTH
from model.decoding.side_by_side import BatchMasks, names_in_batch, run_batch
from model.errors import CheckpointError, TraceError, said
from model.nn.edit_hooks import Edits
from model.nn.encoder_decoder import SITES, site_path
from model.nn.score_functions import DotProduct
from model.nn.transformer import Transformer
from model.parts.ours import EarlierParts, OwnParts
from model.sequence_translator import SequenceTranslator, read_folder
from model.trace.trace import Trace
from model.training_record import LANGUAGES

NO_POSITIONS: Final = said(
    "This model adds no positional encodings: its encoder cannot see the order of the words, and its decoder "
    "sees only which tokens came before."
)
NO_RESIDUAL: Final = said(
    "A rollout follows attention through the layers and gives half of the weight to the residual connections (Abnar "
    "& Zuidema 2020); this model was trained without residual connections."
)


class Translator(SequenceTranslator):
    """A loaded Transformer. Safe to share between threads: nothing of a run is kept on it."""

    model: Transformer

    @classmethod
    def load(cls, folder: str | Path, *, device: str | None = None, dtype: str = "float32") -> "Translator":
        """Load a checkpoint folder of Headlight's own.

        Args:
            folder: for example "checkpoints/en-de".
            device: "cpu", "cuda" or "cuda:N"; by default CUDA if present, else the CPU.
            dtype: "float32", or "bfloat16" on CUDA.

        Raises:
            CheckpointError: the folder is missing or damaged, or holds a model that is not a Transformer.
            DeviceError: there is no such device, or it does not run this number type.
        """
        read = read_folder(Path(folder), device, dtype)
        if not isinstance(read.model, Transformer):
            message = (
                "{name} contains a model from before the Transformer, for which this is not available; open it with "
                "`open_reader(folder)` or `python -m model translate TEXT --checkpoint CHECKPOINT`."
            )
            raise CheckpointError(message, name=read.name)
        return cls(read.model, read.tokenizer, name=read.name, digest=read.digest, languages=LANGUAGES)

    @property
    def config(self) -> TransformerConfig:
        """The model's hyperparameters."""
        return self.model.config

    @property
    def abilities(self) -> Abilities:
        """What the model has: all, but for positions, residual connections, dot products where it was made without."""
        lacks: dict[View, str] = {}
        if self.config.positions == "none":
            lacks["positional encodings"] = NO_POSITIONS
        if not self.config.residual:
            lacks["rollout"] = NO_RESIDUAL
        if not isinstance(self.model.attention_site("decoder.cross", 0).score, DotProduct):
            lacks["reasons"] = NO_DOT_PRODUCT
        return Abilities(
            kind="encoder-decoder",
            family="Headlight",
            heads={site: (self.config.num_heads,) * self.config.layers_of(site) for site in SITES},
            generates=True,
            knows_inputs=True,
            positions=self.config.positions,
            max_length=self.config.max_length,
            max_target_length=self.config.max_length + EXTRA_LENGTH,
            lacks=lacks,
        )

    @property
    def weights_digest(self) -> str:
        """See `model.reader.Reader`: the card and other files of a checkpoint change nothing."""
        return model_digest(self.model, self.tokenizer)

    @property
    def parts(self) -> OwnParts:
        """See `model.reader.Reader`."""
        return OwnParts(self.model, self.abilities, self._rerun)

    def _rerun(self, trace: Trace, extras: Set[str], edits: Edits) -> Trace:
        written = [step.token_id for step in trace.steps]
        return self._forced_trace(trace.text, trace.source_ids, written, extras, edits)

    def output_projection(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """W_O of an attention site, cut into each head's own rows (§3.2.2), float32 on the CPU; without its bias."""
        weight = self.model.get_submodule(f"{site_path(site, layer)}.output").get_parameter("weight").detach()
        return weight.T.reshape(self.config.num_heads, -1, self.config.d_model).float().cpu()

    def decoder_sizes(self, trace: Trace) -> DecoderSizes:
        """See `model.reader.Writer`; of every trace the same."""
        return decoder_sizes(self.config)

    def masks(self, texts: Sequence[str]) -> BatchMasks:
        """Translate several sentences, then read all of them in one padded batch and report the masks used.

        Raises an InputTextError if a text is blank or too long; its place in the batch is named.
        """
        named = zip(texts, names_in_batch(texts), strict=True)
        source_ids = [self.source_ids(text, name) for text, name in named]
        return run_batch(self.model, self.tokenizer, source_ids)


_NO_PROJECTION: Final = said(
    "There is no matrix W_O after this head: its output, the context vector, is used as it is."
)
_NO_CIRCUITS: Final = said(
    "What a head attends to from tokens alone can be computed only where the inputs are embeddings; the queries of "
    "this model are states that depend on everything read before."
)
_EARLIER: Final[Mapping[View, str]] = MappingProxyType(
    {
        "switches": NO_SWITCHES,
        "alignment links": NO_LINKS,
        "hyperparameters": NOT_AS_THE_PAPER,
        "reasons": said(
            "The scores of this model cannot be split into what earlier layers wrote: not all of its layers add to "
            "one sum, the residual stream."
        ),
    }
)
_RECURRENT: Final[Mapping[View, str]] = MappingProxyType(
    {
        **_EARLIER,
        "self-attention": said(
            "A GRU has no self-attention: encoder and decoder pass a state from token to token. The only attention "
            "is the decoder's single alignment head."
        ),
        "rollout": said("A rollout follows self-attention through the layers; a GRU has none."),
        "positional encodings": said("A GRU needs no positional encodings: it reads tokens in order."),
        "logit lens": said("The logit lens reads layers that all add to one sum; a GRU has a single layer with gates."),
        "batch masks": NO_BATCH,
        "output projection": _NO_PROJECTION,
        "circuits": _NO_CIRCUITS,
        "cost": said("The cost of a step is counted only for Transformers, which cache keys and values."),
        "word choice": said(
            "Heads can be switched off or exchanged only if all rows are computed at once; a GRU computes each row "
            "from the state of the previous one."
        ),
    }
)
NO_ATTENTION: Final = said(
    "This model has no attention: its decoder reads one vector, the encoder's last states, so there are no weights to "
    "show. Choose another model. To see what this one translates, open the Ablations tab of the Experiments page, or "
    "run `python -m model translate TEXT --checkpoint CHECKPOINT`."
)
_WITHOUT: "Final[tuple[View, ...]]" = ("self-attention", "rollout", "head outputs", "norms", "edits", "reasons")
_FIXED_VECTOR: Final[Mapping[View, str]] = MappingProxyType({**_RECURRENT, **dict.fromkeys(_WITHOUT, NO_ATTENTION)})
_CONVOLUTIONAL: Final[Mapping[View, str]] = MappingProxyType(
    {
        **_EARLIER,
        "self-attention": said(
            "ConvS2S has no self-attention: each layer mixes neighbouring tokens by a convolution. The only "
            "attention is one head in every decoder layer."
        ),
        "rollout": said("A rollout follows self-attention through the layers; a convolutional model has none."),
        "logit lens": said(
            "The logit lens reads layers that all add to one sum; here every layer scales the sum down by √0.5."
        ),
        "batch masks": NO_BATCH,
        "output projection": _NO_PROJECTION,
        "circuits": _NO_CIRCUITS,
        "cost": said("The cost of a step is counted only for Transformers, which cache keys and values."),
    }
)


#: Configuration → what such a model is called, and what it lacks.
_KINDS: Final[Mapping[type[ModelConfig], tuple[str, Mapping[View, str]]]] = MappingProxyType(
    {
        RecurrentConfig: (said("GRU with additive attention"), _RECURRENT),
        FixedVectorConfig: (said("GRU without attention"), _FIXED_VECTOR),
        ConvolutionalConfig: ("ConvS2S", _CONVOLUTIONAL),
    }
)


class EarlierTranslator(SequenceTranslator):
    """A GRU or convolutional encoder–decoder that was loaded. Safe to share between threads, as others are."""

    @property
    def parts(self) -> EarlierParts:
        """See `model.reader.Reader`."""
        return EarlierParts(self.model, self.abilities)

    @property
    def abilities(self) -> Abilities:
        """What the model has and lacks."""
        family, lacks = _KINDS[type(self.config)]
        positions: PositionScheme = "learned" if isinstance(self.config, ConvolutionalConfig) else "none"
        return Abilities(
            kind="encoder-decoder",
            family=family,
            heads={site: (heads,) * layers for site, (layers, heads) in self.config.shapes.items()},
            generates=True,
            knows_inputs=True,
            positions=positions,
            max_length=self.config.max_length,
            max_target_length=self.config.max_length + EXTRA_LENGTH,
            lacks=lacks,
        )

    def output_projection(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """The identity: the context vector is read as it is. Raises a TraceError without such a site or layer."""
        layers, _ = self.config.shapes.get(site, (0, 0))
        if not 0 <= layer < layers:
            message = "There is no layer {layer} of {site!r}; attentions are {shapes}."
            raise TraceError(message, layer=layer, site=site, shapes=", ".join(self.config.shapes))
        value = self.model.attention_site(site, layer).d_v
        return torch.eye(value)[None]
