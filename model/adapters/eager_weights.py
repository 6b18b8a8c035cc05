"""Read the attention weights that a model's own eager attention returns, for models that give nothing else.

These weights are held for all heads, query × key, so that such models have a length limit of their own.
"""

from collections.abc import Mapping, Sequence
from math import isqrt
from typing import Any, Final

from torch import Tensor

from model.abilities import Abilities, Kind
from model.nn.masks import AttentionMask
from model.trace.trace import SiteLayers
from model.trace.weights_only import WeightsOnly

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


def weights_of(output: Any, abilities: Abilities, config: Any) -> SiteLayers:
    """The weights of the only sentence of a batch, on the CPU."""
    why = abilities.lacks["scores"]
    weights: dict[str, tuple[WeightsOnly, ...]] = {}
    for site, layers in eager_weights(output, abilities.kind).items():
        causal = site == "decoder.self"
        # How far each layer looks back, its own row counted; GPT-Neo's every second layer no further than a window.
        kinds = getattr(config, "attention_layers", ["global"] * len(layers))
        windows = [config.window_size if kind == "local" else None for kind in kinds]
        weights[site] = tuple(
            WeightsOnly(
                held=layer[0].float().cpu(),
                mask=AttentionMask(num_queries=layer.size(2), num_keys=layer.size(3), causal=causal, window=window),
                why=why,
            )
            for layer, window in zip(layers, windows, strict=True)
        )
    return weights


def longest_text(heads: Mapping[str, Sequence[int]]) -> int:
    """How many tokens a text may have so that all weights fit into `LARGEST`."""
    return isqrt(LARGEST // (4 * sum(map(sum, heads.values()))))
