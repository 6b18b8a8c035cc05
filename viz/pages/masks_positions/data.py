"""What a model's masks allow, and how it knows places: derived by the model's own functions.

Like `viz.access.derived` a door from the pages to the model; torch is imported inside functions. Knows nothing of
widgets or
figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Bool

from viz.access import loader
from viz.selection.selection import Selection

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.positions.schemes import PositionScheme
    from model.nn.masks import AttentionMask

#: As many places of a scheme as a picture has room for.
MAX_PLACES: Final = 128


@dataclass(frozen=True, eq=False)
class MaskInUse:
    """A mask that some layers of a site use.

    Attributes:
        layers: which, from 0.
        by_place: True where places allow it: causality, a window, chunks; read-only.
        by_padding: True where the key is no padding.
        rule: in words.
    """

    layers: tuple[int, ...]
    by_place: Bool[np.ndarray, "query key"]
    by_padding: Bool[np.ndarray, "query key"]
    rule: str


def masks_in_use(trace: "Trace", site: str) -> list[MaskInUse]:
    """The masks of a site, each with the layers that use it, the first layer's first."""
    by_rule: dict[str, list[int]] = {}
    for layer, inputs in enumerate(trace.inputs[site]):
        by_rule.setdefault(_rule(inputs.mask), []).append(layer)
    found = []
    for rule, layers in by_rule.items():
        place, padding = (part.rows()[0].numpy() for part in trace.inputs[site][layers[0]].mask.parts())
        found.append(MaskInUse(tuple(layers), place, padding, rule))
    return found


def rule_of(trace: "Trace", site: str, layer: int) -> str:
    """What the mask of a layer lets a row see, in words."""
    return _rule(trace.inputs[site][layer].mask)


def position_schemes(trace: "Trace", selection: Selection) -> "Sequence[PositionScheme]":
    """What can be drawn of how the chosen model knows places."""
    from model.analysis.positions import schemes

    tokens = max(len(trace.source_tokens), len(trace.target_tokens))
    return schemes.position_schemes(loader.reader(selection), trace, min(MAX_PLACES, max(tokens, 32)))


def _rule(mask: "AttentionMask") -> str:
    told = []
    if mask.causal:
        told.append("no key after the query (causal)")
    if mask.window is not None:
        told.append(f"no key {mask.window:,} or more tokens away (a window)")
    if mask.chunk is not None:
        told.append(f"no key of another chunk of {mask.chunk:,} tokens")
    if mask.explicit is not None:
        told.append("a pattern of its own")
    if mask.key_padding is not None:
        told.append("no padding")
    return "; ".join(told) or "every key"
