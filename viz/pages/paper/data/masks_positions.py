"""What a model's masks allow, and how it knows positions: the paper's formula, and what other models have instead."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

import numpy as np
from jaxtyping import Bool, Float, Int

from model import BatchMasks, Reader, Trace, Translator
from model.analysis import positions as model_positions
from model.analysis.positions import (
    PositionScheme,
    RotationResidual,
    compare_rows,
    dimension_wave,
    rotation,
    rotation_residual,
    wavelengths,
)
from model.config import PositionLayout
from model.nn import layers
from model.nn.layers import sinusoidal_encoding
from model.nn.masks import AttentionMask
from viz.server.caches import cached
from viz.text.messages import _

MAX_BATCHES: Final = 64
MAX_SCHEMES: Final = 8


@dataclass(frozen=True, eq=False)
class MaskInUse:
    """A mask that some layers of a site use."""

    layers: tuple[int, ...]  #: which, from 0
    by_position: Bool[np.ndarray, "query key"]  #: True where positions allow it: causality, a window, chunks; read-only
    by_padding: Bool[np.ndarray, "query key"]  #: True where the key is no padding
    rule: str  #: in words


#: As many positions of a scheme as a picture has room for.
MAX_POSITIONS: Final = 128
#: How alike the rows of a sentence are, pair by pair, and how much of that their positions explain.
likeness: Final = compare_rows
#: The paper's base, which every model here uses.
OWN_BASE: Final = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """The encoding shown: its settings, and a row per position, the tokens' positions first."""

    d_model: int
    base: int
    layout: PositionLayout
    tokens: Sequence[str]
    rows: Float[np.ndarray, "position d_model"]

    @property
    def count(self) -> int:
        """Positions."""
        return len(self.rows)

    @property
    def pairs(self) -> Int[np.ndarray, "pair 2"]:
        """Return the dimensions of the sine and the cosine of each angle."""
        pairs: np.ndarray = pair_dimensions(self.d_model, self.layout)
        return pairs


def masks_in_use(trace: Trace, site: str) -> list[MaskInUse]:
    """The masks of a site, each with the layers that use it, the first layer's first."""
    by_rule: dict[str, list[int]] = {}
    for layer, inputs in enumerate(trace.inputs[site]):
        by_rule.setdefault(rule_of(inputs.mask), []).append(layer)
    masks = []
    for rule, of_rule in by_rule.items():
        position, padding = (part.rows()[0].numpy() for part in trace.inputs[site][of_rule[0]].mask.parts())
        masks.append(MaskInUse(tuple(of_rule), position, padding, rule))
    return masks


@cached(max_entries=MAX_BATCHES)
def batch_masks(translator: Translator, texts: tuple[str, ...]) -> BatchMasks:
    """The masks of texts that share a batch, as the model uses them."""
    return translator.masks(texts)


def rule_of(mask: AttentionMask) -> str:
    """Describe which keys a mask lets a query see."""
    parts = []
    if mask.causal:
        parts.append(_("no key after the query (causal)"))
    if mask.window is not None:
        parts.append(_("no key {count:,} or more tokens away (a window)", count=mask.window))
    if mask.chunk is not None:
        parts.append(_("no key of another chunk of {count:,} tokens", count=mask.chunk))
    if mask.explicit is not None:
        parts.append(_("a special pattern"))
    if mask.key_padding is not None:
        parts.append(_("no padding"))
    if not parts:
        return _("every key")
    return reduce(lambda before, part: _("{before}; {part}", before=before, part=part), parts)


@cached(max_entries=MAX_SCHEMES)
def position_schemes(trace: Trace, reader: Reader) -> Sequence[PositionScheme]:
    """What can be drawn of how a model knows positions."""
    return model_positions.position_schemes(reader, trace, positions_drawn(trace))


def positions_drawn(trace: Trace) -> int:
    """How many positions of a scheme are drawn."""
    return min(MAX_POSITIONS, max(len(trace.source_tokens), len(trace.target_tokens), 32))


def encoding(
    num_positions: int, d_model: int, base: int, layout: PositionLayout
) -> Float[np.ndarray, "position d_model"]:
    """The formula's positional encodings, in float32: for the model's own settings, what it adds."""
    return sinusoidal_encoding(num_positions, d_model, base=float(base), layout=layout).numpy()


def pair_dimensions(d_model: int, layout: PositionLayout) -> Int[np.ndarray, "pair 2"]:
    """Return the dimensions of the sine and the cosine of each angle."""
    return layers.pair_dimensions(d_model, layout).numpy()


def wave(
    dimension: int, num_positions: int, d_model: int, base: int, layout: PositionLayout
) -> tuple[Float[np.ndarray, "sample"], Float[np.ndarray, "sample"], float]:
    """One dimension of the formula between the positions too: positions, values, and its wavelength in positions."""
    positions, values = dimension_wave(dimension, num_positions, d_model, base=float(base), layout=layout)
    (pair,), _ = np.nonzero(pair_dimensions(d_model, layout) == dimension)
    return positions.numpy(), values.numpy(), float(wavelengths(d_model, base=float(base))[pair])


def shift_rotation(
    shift: int, num_positions: int, d_model: int, base: int
) -> tuple[Float[np.ndarray, "pair 2 2"], RotationResidual]:
    """The rotations that shift a position, one a pair of dimensions, and how far they miss over all positions."""
    residual = rotation_residual(num_positions, d_model, shift=shift, base=float(base))
    return rotation(shift, d_model, base=float(base)).numpy(), residual


def products_at_distances(count: int, d_model: int, base: int) -> Float[np.ndarray, "distance"]:
    """PE(p) · PE(p+k) of the formula for every distance k below `count`."""
    return model_positions.products_at_distances(count, d_model, base=float(base)).numpy()
