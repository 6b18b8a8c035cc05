"""How a model knows positions: the paper's formula, and what other models have instead."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float, Int

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.positions.schemes import PositionScheme
    from model.analysis.positions.sinusoids import Likeness, RotationResidual
    from model.config import PositionLayout

#: As many positions of a scheme as a picture has room for.
MAX_POSITIONS: Final = 128
#: The paper's base, which every model here uses.
OWN_BASE: Final = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """The encoding that is shown: its settings, and a row for every position, the first of them those of the tokens."""

    d_model: int
    base: int
    layout: "PositionLayout"
    tokens: Sequence[str]
    rows: Float[np.ndarray, "position d_model"]

    @property
    def count(self) -> int:
        """Positions."""
        return len(self.rows)

    @property
    def pairs(self) -> Int[np.ndarray, "pair 2"]:
        """In which dimensions the sine and the cosine of each angle stand."""
        pairs: np.ndarray = pair_dimensions(self.d_model, self.layout)
        return pairs


def position_schemes(trace: "Trace", reader: "Reader") -> "Sequence[PositionScheme]":
    """What can be drawn of how a model knows positions."""
    from model.analysis.positions import schemes

    tokens = max(len(trace.source_tokens), len(trace.target_tokens))
    return schemes.position_schemes(reader, trace, min(MAX_POSITIONS, max(tokens, 32)))


def encoding(
    num_positions: int, d_model: int, base: int, layout: "PositionLayout"
) -> Float[np.ndarray, "position d_model"]:
    """The formula's positional encodings, in float32: for the model's own settings, what it adds."""
    from model.nn.layers import sinusoidal_encoding

    return sinusoidal_encoding(num_positions, d_model, base=float(base), layout=layout).numpy()


def pair_dimensions(d_model: int, layout: "PositionLayout") -> Int[np.ndarray, "pair 2"]:
    """In which dimensions the sine and the cosine of each angle stand."""
    from model.nn import layers

    return layers.pair_dimensions(d_model, layout).numpy()


def wave(
    dimension: int, num_positions: int, d_model: int, base: int, layout: "PositionLayout"
) -> tuple[Float[np.ndarray, "sample"], Float[np.ndarray, "sample"], float]:
    """One dimension of the formula between the positions too: positions, values, and its wavelength in positions."""
    from model.analysis.positions.sinusoids import dimension_wave, wavelengths

    positions, values = dimension_wave(dimension, num_positions, d_model, base=float(base), layout=layout)
    (pair,), _ = np.nonzero(pair_dimensions(d_model, layout) == dimension)
    return positions.numpy(), values.numpy(), float(wavelengths(d_model, base=float(base))[pair])


def shift_rotation(
    shift: int, num_positions: int, d_model: int, base: int
) -> tuple[Float[np.ndarray, "pair 2 2"], "RotationResidual"]:
    """The rotations that shift a position, one a pair of dimensions, and how far they miss over all positions."""
    from model.analysis.positions.sinusoids import rotation, rotation_residual

    residual = rotation_residual(num_positions, d_model, shift=shift, base=float(base))
    return rotation(shift, d_model, base=float(base)).numpy(), residual


def products_at_distances(count: int, d_model: int, base: int) -> Float[np.ndarray, "distance"]:
    """PE(p) · PE(p+k) of the formula for every distance k below `count`."""
    from model.analysis.positions import sinusoids

    return sinusoids.products_at_distances(count, d_model, base=float(base)).numpy()


def likeness(
    rows: Float[np.ndarray, "position width"], positional: Float[np.ndarray, "position d_model"]
) -> "Likeness":
    """How alike the rows of a sentence are, pair by pair, and how much of that their positions explain."""
    from model.analysis.positions.sinusoids import compare_rows

    return compare_rows(rows, positional)
