"""Sinusoidal positional encodings (§3.5). Knows nothing of tokens or layers."""

import torch
from jaxtyping import Float
from torch import Tensor


def angular_frequencies(
    d_model: int, *, base: float = 10_000.0, device: torch.device | None = None
) -> Float[Tensor, "pair"]:
    """ω_i = base^(−2i/d_model), in radians per position, in float64.

    Dimensions 2i and 2i+1 are the sine and the cosine of the same angle pos · ω_i, and make pair i.
    """
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64, device=device) / d_model
    return base**-exponents


def encode_positions(
    positions: Float[Tensor, "position"], d_model: int, *, base: float = 10_000.0
) -> Float[Tensor, "position d_model"]:
    """PE(pos, 2i) = sin(pos · ω_i), PE(pos, 2i+1) = cos(the same angle), in the number type of the positions.

    Args:
        positions: they need not be whole: between two tokens the formula goes on.
        d_model: number of columns, even.
        base: the paper's 10000; wavelengths run from 2π to nearly base · 2π.
    """
    angles = positions.double()[:, None] * angular_frequencies(d_model, base=base, device=positions.device)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).to(positions.dtype)


def sinusoidal_encoding(
    num_positions: int, d_model: int, *, first: int = 0, base: float = 10_000.0, device: torch.device | None = None
) -> Float[Tensor, "position d_model"]:
    """`encode_positions` of the whole positions from `first` on, in float32: what the model adds.

    Args:
        num_positions: number of rows.
        d_model: number of columns, even.
        first: position of the first row.
        base: as there.
        device: where the result lies.

    Angles are taken in float64: in float32 they are off by 1e-4 at position 1,000.
    """
    positions = torch.arange(first, first + num_positions, dtype=torch.float64, device=device)
    return encode_positions(positions, d_model, base=base).float()
