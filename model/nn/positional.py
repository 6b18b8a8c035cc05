"""Compute sinusoidal positional encodings (§3.5)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.config import PositionLayout


def angular_frequencies(
    d_model: int, *, base: float = 10_000.0, device: torch.device | None = None
) -> Float[Tensor, "pair"]:
    """ω_i = base^(−2i/d_model), in radians per position, in float64.

    The sine and the cosine of the same angle pos · ω_i make pair i; `pair_dimensions` gives their columns.
    """
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64, device=device) / d_model
    return base**-exponents


def pair_dimensions(d_model: int, layout: PositionLayout = "interleaved") -> Int[Tensor, "pair 2"]:
    """The columns of the sine and of the cosine of each pair.

    Pair i has columns 2i and 2i+1 (§3.5), or, with `layout` "halves", columns i and i + d_model/2, as in Marian
    (Junczys-Dowmunt et al. 2018, after the paper's own program, tensor2tensor).
    """
    columns = torch.arange(d_model)
    return columns.view(-1, 2) if layout == "interleaved" else columns.view(2, -1).T


def encode_positions(
    positions: Float[Tensor, "position"],
    d_model: int,
    *,
    base: float = 10_000.0,
    layout: PositionLayout = "interleaved",
) -> Float[Tensor, "position d_model"]:
    """PE(pos, 2i) = sin(pos · ω_i), PE(pos, 2i+1) = cos(the same angle), in the number type of the positions.

    Args:
        positions: need not be whole numbers.
        d_model: number of columns, even.
        base: the paper's 10000; wavelengths run from 2π to nearly base · 2π.
        layout: of the columns, see `pair_dimensions`.
    """
    angles = positions.double()[:, None] * angular_frequencies(d_model, base=base, device=positions.device)
    values = torch.stack((angles.sin(), angles.cos()), dim=-1)
    encoding = torch.empty_like(angles.repeat(1, 2))
    encoding[:, pair_dimensions(d_model, layout)] = values
    return encoding.to(positions.dtype)


def sinusoidal_encoding(
    num_positions: int,
    d_model: int,
    *,
    first: int = 0,
    base: float = 10_000.0,
    layout: PositionLayout = "interleaved",
    device: torch.device | None = None,
) -> Float[Tensor, "position d_model"]:
    """`encode_positions` of the whole positions from `first` on, in float32: what the model adds.

    Angles are taken in float64: in float32 they are off by 1e-4 at position 1,000.
    """
    positions = torch.arange(first, first + num_positions, dtype=torch.float64, device=device)
    return encode_positions(positions, d_model, base=base, layout=layout).float()
