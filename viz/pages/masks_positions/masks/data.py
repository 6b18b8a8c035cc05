"""What a model's masks allow: of one text, and of texts that share a batch."""

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Bool

from viz.server.caches import cached
from viz.text.messages import _

if TYPE_CHECKING:
    from model import BatchMasks, Trace, Translator
    from model.nn.masks import AttentionMask

MAX_BATCHES: Final = 64


@dataclass(frozen=True, eq=False)
class MaskInUse:
    """A mask that some layers of a site use.

    Attributes:
        layers: which, from 0.
        by_position: True where positions allow it: causality, a window, chunks; read-only.
        by_padding: True where the key is no padding.
        rule: in words.
    """

    layers: tuple[int, ...]
    by_position: Bool[np.ndarray, "query key"]
    by_padding: Bool[np.ndarray, "query key"]
    rule: str


def masks_in_use(trace: "Trace", site: str) -> list[MaskInUse]:
    """The masks of a site, each with the layers that use it, the first layer's first."""
    by_rule: dict[str, list[int]] = {}
    for layer, inputs in enumerate(trace.inputs[site]):
        by_rule.setdefault(_rule(inputs.mask), []).append(layer)
    masks = []
    for rule, layers in by_rule.items():
        position, padding = (part.rows()[0].numpy() for part in trace.inputs[site][layers[0]].mask.parts())
        masks.append(MaskInUse(tuple(layers), position, padding, rule))
    return masks


@cached(max_entries=MAX_BATCHES)
def batch_masks(translator: "Translator", texts: tuple[str, ...]) -> "BatchMasks":
    """The masks of texts that share a batch, as the model uses them."""
    return translator.masks(texts)


def rule_of(trace: "Trace", site: str, layer: int) -> str:
    """What the mask of a layer lets a row see, in words."""
    return _rule(trace.inputs[site][layer].mask)


def _rule(mask: "AttentionMask") -> str:
    parts = []
    if mask.causal:
        parts.append(_("no key after the query (causal)"))
    if mask.window is not None:
        parts.append(_("no key {count:,} or more tokens away (a window)", count=mask.window))
    if mask.chunk is not None:
        parts.append(_("no key of another chunk of {count:,} tokens", count=mask.chunk))
    if mask.explicit is not None:
        parts.append(_("a pattern of its own"))
    if mask.key_padding is not None:
        parts.append(_("no padding"))
    if not parts:
        return _("every key")
    return reduce(lambda before, part: _("{before}; {part}", before=before, part=part), parts)
