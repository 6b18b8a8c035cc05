"""The models before the Transformer as translators: what they share with it, and a sentence for what they lack."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

from model.abilities import Abilities, PositionScheme, View
from model.decoding.logit_lens import LogitLens
from model.decoding.search import EXTRA_LENGTH
from model.errors import TraceError
from model.messages import said
from model.nn.recurrent import RecurrentTranslator
from model.sequence_translator import SequenceTranslator
from model.trace.trace import Trace

_ONE_BATCH: Final = said("The picture of a padded batch shows the three attentions of a Transformer.")
_NO_PROJECTION: Final = said(
    "There is no matrix W_O after this head: its output, the context vector, is used as it is."
)
_NO_CIRCUITS: Final = said(
    "What a head attends to by tokens alone can be computed only where the inputs are embeddings; the queries of "
    "this model are states that depend on everything read before."
)
_RECURRENT: Final[Mapping[View, str]] = MappingProxyType(
    {
        "self-attention": said(
            "A GRU has no self-attention: encoder and decoder pass a state from token to token. The only attention "
            "is the decoder's single alignment head."
        ),
        "rollout": said("A rollout follows self-attention through the layers; a GRU has none."),
        "positional encodings": said("A GRU needs no positional encodings: it reads tokens in order."),
        "logit lens": said("The logit lens reads layers that all add to one sum; a GRU has a single layer with gates."),
        "batch masks": _ONE_BATCH,
        "output projection": _NO_PROJECTION,
        "circuits": _NO_CIRCUITS,
        "cost": said("The cost of a step is counted only for Transformers, which cache keys and values."),
        "word choice": said(
            "Heads can be switched off or exchanged only if all rows are computed at once; a GRU computes each row "
            "from the state of the previous one."
        ),
    }
)
_CONVOLUTIONAL: Final[Mapping[View, str]] = MappingProxyType(
    {
        "self-attention": said(
            "ConvS2S has no self-attention: each layer mixes neighbouring tokens by a convolution. The only "
            "attention is one head in every decoder layer."
        ),
        "rollout": said("A rollout follows self-attention through the layers; a convolutional model has none."),
        "logit lens": said(
            "The logit lens reads layers that all add to one sum; here every layer scales the sum down by √0.5."
        ),
        "batch masks": _ONE_BATCH,
        "output projection": _NO_PROJECTION,
        "circuits": _NO_CIRCUITS,
        "cost": said("The cost of a step is counted only for Transformers, which cache keys and values."),
    }
)


class EarlierTranslator(SequenceTranslator):
    """A GRU or convolutional encoder–decoder that was loaded. Safe to share between threads, as others are."""

    @property
    def abilities(self) -> Abilities:
        """What the model has and lacks."""
        is_recurrent = isinstance(self.model, RecurrentTranslator)
        positions: PositionScheme = "none" if is_recurrent else "learned"
        return Abilities(
            kind="encoder-decoder",
            family=said("GRU with additive attention") if is_recurrent else "ConvS2S",
            heads={site: (heads,) * layers for site, (layers, heads) in self.config.shapes.items()},
            generates=True,
            knows_inputs=True,
            positions=positions,
            max_length=self.config.max_length,
            max_target_length=self.config.max_length + EXTRA_LENGTH,
            lacks=_RECURRENT if is_recurrent else _CONVOLUTIONAL,
        )

    def output_projection(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """The identity: the head's output is the context vector, which is read as it is.

        Raises:
            TraceError: there is no such site or layer.
        """
        layers, _ = self.config.shapes.get(site, (0, 0))
        if not 0 <= layer < layers:
            raise TraceError(
                "There is no layer {layer} of {site!r}; sites are {shapes}.",
                layer=layer,
                site=site,
                shapes=", ".join(self.config.shapes),
            )
        value = self.model.attention_site(site, layer).d_v
        return torch.eye(value)[None]

    def logit_lens(self, trace: Trace, top: int = 5) -> LogitLens:
        """Not known: raises a TraceError."""
        raise TraceError(self.abilities.lacks["logit lens"])
