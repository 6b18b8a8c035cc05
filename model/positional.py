"""Sinusoidal positional encodings (§3.5). Knows nothing of tokens or layers."""

import torch
from jaxtyping import Float
from torch import Tensor


def sinusoidal_encoding(
    num_positions: int, d_model: int, *, first: int = 0, base: float = 10_000.0, device: torch.device | None = None
) -> Float[Tensor, "position d_model"]:
    """PE(pos, 2i) = sin(pos / base^(2i/d_model)), PE(pos, 2i+1) = cos(the same angle).

    Args:
        num_positions: number of rows.
        d_model: number of columns, even.
        first: position of the first row.
        base: the paper's 10000; wavelengths run from 2π to base · 2π.
        device: where the result lies.

    Angles are taken in float64: in float32 they are off by 1e-4 at position 1,000.
    """
    positions = torch.arange(first, first + num_positions, dtype=torch.float64, device=device)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64, device=device) / d_model
    angles = positions[:, None] * base**-exponents
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).float()
