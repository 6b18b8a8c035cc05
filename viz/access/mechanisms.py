"""How a model masks, how it knows positions and what its attention costs, read off a trace: the same of every model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Bool

from model import later
from model.decoding import cost
from viz.server.caches import cached
from viz.text.messages import _

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.positions import PositionScheme
    from model.nn.masks import AttentionMask

MAX_SCHEMES: Final = 8
#: What all attentions take for so many tokens.
attention_cost: Final = cost.attention_cost
#: As many positions of a scheme as a picture has room for, and as many as it has at least.
MAX_POSITIONS, MIN_POSITIONS = 128, 32


@dataclass(frozen=True, eq=False)
class MaskInUse:
    """A mask that some layers of a site use."""

    layers: tuple[int, ...]  #: which, from 0
    by_position: Bool[np.ndarray, "query key"]  #: True where positions allow it: causality, a window, chunks; read-only
    by_padding: Bool[np.ndarray, "query key"]  #: True where the key is not padding
    rule: str  #: in words


def masks_in_use(trace: "Trace", site: str) -> list[MaskInUse]:
    """The masks of a site, each with the layers that use it, the first layer's first."""
    by_rule: dict[str, list[int]] = {}
    for layer, inputs in enumerate(trace.inputs[site]):
        by_rule.setdefault(rule_of(inputs.mask), []).append(layer)
    masks = []
    for rule, of_rule in by_rule.items():
        position, padding = (part.rows()[0].numpy() for part in trace.inputs[site][min(of_rule)].mask.parts())
        masks.append(MaskInUse(tuple(of_rule), position, padding, rule))
    return masks


def rule_of(mask: "AttentionMask") -> str:
    """Describe which keys a mask lets a query see."""
    parts = []
    if mask.causal:
        parts.append(_("no key after the query (causal)"))
    if mask.window is not None:
        parts.append(_("no key {count:,} or more tokens away (a window)", count=mask.window))
    if mask.chunk is not None:
        parts.append(_("no key of another chunk of {count:,} tokens", count=mask.chunk))
    if mask.explicit is not None:
        parts.append(_("only keys of a special pattern"))
    if mask.key_padding is not None:
        parts.append(_("no padding"))
    if not parts:
        return _("every key")
    return reduce(lambda before, part: _("{before}; {part}", before=before, part=part), parts)


@cached(max_entries=MAX_SCHEMES)
def position_schemes(trace: "Trace", reader: "Reader") -> "Sequence[PositionScheme]":
    """What can be drawn of how a model knows positions."""
    return later.positions.position_schemes(reader, trace, positions_drawn(trace))


def positions_drawn(trace: "Trace") -> int:
    """How many positions of a scheme are drawn."""
    return min(MAX_POSITIONS, max(len(trace.source_tokens), len(trace.target_tokens), MIN_POSITIONS))
