"""The sinusoids of the paper with any settings: rows, waves, shifts, products."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float, Int

from model import Reader, Trace
from model.analysis import positions as model_positions
from model.analysis.positions import (
    RotationResidual,
    compare_rows,
    dimension_wave,
    rotation,
    rotation_residual,
    wavelengths,
)
from model.nn import layers
from model.nn.layers import PositionLayout, sinusoidal_encoding
from model.parts.weights import Beginning, Stack
from viz.server.caches import cached

#: How alike the rows of a sentence are, pair by pair, and how much of that their positions explain.
likeness: Final = compare_rows
MAX_KEPT: Final = 8
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


@cached(max_entries=MAX_KEPT)
def beginning(reader: Reader, trace: Trace, stack: Stack) -> Beginning:
    """The embeddings and the positional encodings that a stack of the model began with."""
    return reader.parts.beginning(trace, stack)


def layout_of(reader: Reader, trace: Trace) -> PositionLayout | None:
    """How the paper's sinusoids stand in what the model adds to the tokens of both sides; None if it adds others."""
    abilities = reader.abilities
    is_known = abilities.has("positional encodings") and abilities.kind == "encoder-decoder"
    if not is_known or abilities.positions != "sinusoidal":
        return None
    return model_positions.layout_of(beginning(reader, trace, "encoder").positional)


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
