"""The weights of models that give nothing else: what their own eager attention returns. Knows nothing of tokens.

These weights are held for all heads, query × key, so that such models have a length limit of their own.
"""

from collections.abc import Mapping, Sequence
from math import isqrt
from typing import Any, Final

from torch import Tensor

from model.abilities import Abilities, Kind
from model.masks import AttentionMask
from model.trace import SiteLayers
from model.weights_only import WeightsOnly

LARGEST: Final = 1 << 30
"""Bytes of weights that may be held for one text."""

#: Kind → site → under which name the library returns its weights.
_NAMES: Final[Mapping[Kind, Mapping[str, str]]] = {
    "encoder": {"encoder.self": "attentions"},
    "image": {"encoder.self": "attentions"},
    "decoder": {"decoder.self": "attentions"},
    "encoder-decoder": {
        "encoder.self": "encoder_attentions",
        "decoder.self": "decoder_attentions",
        "decoder.cross": "cross_attentions",
    },
}


def eager_weights(output: Any, kind: Kind) -> dict[str, Sequence[Tensor]]:
    """Site → per layer, the weights [batch, head, query, key] that the library returned."""
    return {site: output[name] for site, name in _NAMES[kind].items()}


def weights_of(output: Any, abilities: Abilities) -> SiteLayers:
    """The weights of the only sentence of a batch, on the CPU."""
    why = abilities.lacks["scores"]
    found: dict[str, tuple[WeightsOnly, ...]] = {}
    for site, layers in eager_weights(output, abilities.kind).items():
        causal = site == "decoder.self"
        found[site] = tuple(
            WeightsOnly(
                held=layer[0].float().cpu(),
                mask=AttentionMask(num_queries=layer.size(2), num_keys=layer.size(3), causal=causal),
                why=why,
            )
            for layer in layers
        )
    return found


def longest_text(heads: Mapping[str, Sequence[int]]) -> int:
    """How many tokens a text may have so that all weights fit into `LARGEST`."""
    return isqrt(LARGEST // (4 * sum(map(sum, heads.values()))))
