"""Get what a model knows positions by (a table, angles, or a bias), and compute properties of sinusoids (§3.5).

The formula of the sinusoids itself is in `model.nn.layers`.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.nn.layers import PositionLayout, angular_frequencies, encode_positions, sinusoidal_encoding
from model.nn.score_functions import DistanceBias
from model.reader import Reader
from model.trace.trace import Trace

What = Literal["table", "angles", "bias"]


@dataclass(frozen=True, eq=False)
class PositionScheme:
    """Numbers by which a model knows positions."""

    #: "table": a row is added to the token at that position · "angles": query and key are rotated by them, a column for
    #: each pair of dimensions; here their cosines · "bias": added to the score, a row for each head and a column for
    #: each distance.
    what: What
    values: Float[Tensor, "row column"]
    #: of a bias, the distance of its first column: how far the key is behind the query, below 0 before it.
    first: int = 0
    site: str = ""  #: where a bias is added; "" for the others


def position_schemes(reader: Reader, trace: Trace, num_positions: int) -> list[PositionScheme]:
    """What can be drawn of a model's positions, `num_positions` at most; nothing if it has no such numbers.

    A bias that was added is taken from a run of the model, `trace`.
    """
    match reader.abilities.positions:
        case "learned" | "sinusoidal":
            table = reader.parts.positional(trace)
            return [] if table is None else [PositionScheme("table", table[:num_positions].float().cpu())]
        case "rotary":
            frequencies = reader.parts.positional(trace)
            return [] if frequencies is None else [PositionScheme("angles", rotary_cosines(frequencies, num_positions))]
        case "ALiBi" | "relative bias":
            return _biases(trace)
        case _:
            return []


def layout_of(rows: Float[Tensor, "position d_model"]) -> PositionLayout | None:
    """How sines and cosines stand in encodings from the first position on; None if the paper's formula gives others."""
    layouts: tuple[PositionLayout, ...] = get_args(PositionLayout)
    for layout in layouts:
        if torch.allclose(sinusoidal_encoding(*rows.shape, layout=layout), rows.float().cpu(), rtol=0, atol=1e-4):
            return layout
    return None


def rotary_cosines(frequencies: Float[Tensor, "pair"], num_positions: int) -> Float[Tensor, "position pair"]:
    """cos(p · θ_i): rotary positions rotate pair i of a query or key at position p by p · θ_i (Su et al. 2021)."""
    positions = torch.arange(num_positions, dtype=torch.float32)
    return (positions[:, None] * frequencies.float().cpu()).cos()


def _biases(trace: Trace) -> list[PositionScheme]:
    """The bias of each self-attention, of its first layer: it is the same in all of them."""
    schemes = []
    for site in trace.sites:
        if site.endswith(".self") and trace.knows_inputs:
            bias = trace.attention(site, 0).bias
            if isinstance(bias, DistanceBias):
                schemes.append(PositionScheme("bias", bias.table.float(), 1 - bias.num_queries, site))
    return schemes


#: Points of a wave for every position: enough for the fastest, sin(pos), to look round.
SAMPLES = 8


def wavelengths(d_model: int, *, base: float = 10_000.0) -> Float[Tensor, "pair"]:
    """λ_i = 2π / ω_i = 2π · base^(2i/d_model): after so many positions sine and cosine of pair i repeat (§3.5)."""
    return 2 * math.pi / angular_frequencies(d_model, base=base)


def dimension_wave(
    dimension: int, num_positions: int, d_model: int, *, base: float = 10_000.0, layout: PositionLayout = "interleaved"
) -> tuple[Float[Tensor, "sample"], Float[Tensor, "sample"]]:
    """One dimension from position 0 to the last, also between them: dots alone do not show how a fast one runs."""
    where = torch.linspace(0, num_positions - 1, (num_positions - 1) * SAMPLES + 1, dtype=torch.float64)
    return where, encode_positions(where, d_model, base=base, layout=layout)[:, dimension]


def products_at_distances(count: int, d_model: int, *, base: float = 10_000.0) -> Float[Tensor, "distance"]:
    """PE(p) · PE(p+k) = Σ_i cos(k · ω_i) for k from 0 to `count` − 1; p does not occur in it.

    For sin a · sin b + cos a · cos b = cos(a − b) in every pair. In float64.
    """
    distances = torch.arange(count, dtype=torch.float64)
    return (distances[:, None] * angular_frequencies(d_model, base=base)).cos().sum(-1)


@dataclass(frozen=True, eq=False)
class Likeness:
    """The dot product of every two different rows of a matrix, each pair once, and what of it positions explain."""

    first: Int[np.ndarray, "pair"]
    second: Int[np.ndarray, "pair"]
    products: Float[np.ndarray, "pair"]
    explained: float | None

    @property
    def distances(self) -> Int[np.ndarray, "pair"]:
        """How far the two rows of each pair are apart, at least 1."""
        distances: np.ndarray = self.second - self.first
        return distances


def compare_rows(
    rows: Float[np.ndarray, "position width"], positional: Float[np.ndarray, "position d_model"]
) -> Likeness:
    """Dot products of all pairs of rows, and how much of them those of the positional encodings explain."""
    first, second = np.triu_indices(len(rows), 1)
    products, explanation = ((matrix @ matrix.T)[first, second] for matrix in (rows, positional))
    return Likeness(first, second, products, explained_share(products, explanation))


def explained_share(products: Float[np.ndarray, "pair"], explanation: Float[np.ndarray, "pair"]) -> float | None:
    """R² = corr²: the share of the variance of `products` that a straight line over `explanation` accounts for.

    None where there is nothing to explain: fewer than three pairs, or a side that does not vary.
    """
    if len(products) < 3:
        return None
    centred, other = (values - values.mean(dtype=np.float64) for values in (products, explanation))
    spread = float((centred @ centred) * (other @ other))
    return float((centred @ other) ** 2) / spread if spread > 0 else None


def rotation(shift: int, d_model: int, *, base: float = 10_000.0) -> Float[Tensor, "pair 2 2"]:
    """R_k with R_k · PE(pos) = PE(pos + k) for every position: one 2 × 2 matrix for each pair (§3.5).

    R_k = [[cos kω_i, sin kω_i], [−sin kω_i, cos kω_i]] acts on (sin, cos) of pair i. In float64.
    """
    angles = shift * angular_frequencies(d_model, base=base)
    cos, sin = angles.cos(), angles.sin()
    return torch.stack((cos, sin, -sin, cos), dim=-1).view(-1, 2, 2)


@dataclass(frozen=True, slots=True)
class RotationResidual:
    """max |R_k · PE(pos) − PE(pos + k)| over all positions and pairs, in two number types."""

    float64: float
    float32: float


def rotation_residual(num_positions: int, d_model: int, *, shift: int, base: float = 10_000.0) -> RotationResidual:
    """How far rotating by `shift` misses the encoding of the shifted position, at worst, over all positions and pairs.

    float64 tests the claim; float32 is the table that a model holds, and its rounding.
    """
    rotations = rotation(shift, d_model, base=base)
    positions = torch.arange(num_positions + shift, dtype=torch.float64)
    exact = encode_positions(positions, d_model, base=base)
    rounded = sinusoidal_encoding(num_positions + shift, d_model, base=base)
    return RotationResidual(_residual(exact, rotations, shift), _residual(rounded, rotations.float(), shift))


def _residual(table: Float[Tensor, "position d_model"], rotations: Float[Tensor, "pair 2 2"], shift: int) -> float:
    pairs = table.view(len(table), -1, 2)
    rotated = torch.einsum("irc,pic->pir", rotations, pairs[: len(pairs) - shift])
    return float((rotated - pairs[shift:]).abs().max())
