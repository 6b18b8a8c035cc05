"""Attention as pooling: a regression in which a query averages the values of near keys (Nadaraya 1964, Watson 1964).

f(q) = Σ_j w_j v_j, w = softmax over j of −(q − k_j)² / 2σ². Up to a number that is the same for all keys, that is
q k_j / σ² − k_j² / 2σ²: a dot product, scaled by 1/σ², with a bias for each key. So the model's own
equation computes it.
"""

from dataclasses import dataclass
from typing import Final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.nn.attention import attention_weights, entropy_bits

#: Points that are given, where they lie, and the deviation of the noise in their values.
POINTS, END, NOISE = 40, 5.0, 0.3
#: Queries along the whole curve.
QUERIES: Final = 51
_SEED: Final = 5
Mask = Bool[Tensor, "query key"]


@dataclass(frozen=True, eq=False)
class Points:
    """What is known: at each key a value, which is the curve's with noise; keys ascend."""

    keys: Float[Tensor, "key"]
    values: Float[Tensor, "key"]


def true_curve(at: Float[Tensor, "query"]) -> Float[Tensor, "query"]:
    """The curve that the values come from: sin 2x + x/2."""
    return torch.sin(2 * at) + at / 2


def sample_points() -> Points:
    """The same points every time, their keys spread evenly at random from 0 to `END`."""
    generator = torch.Generator().manual_seed(_SEED)
    keys = (torch.rand(POINTS, generator=generator, dtype=torch.float64) * END).sort().values
    return Points(keys, torch.normal(true_curve(keys), NOISE, generator=generator))


def pooling_weights(
    queries: Float[Tensor, "query"], keys: Float[Tensor, "key"], width: float, mask: Mask | None = None
) -> Float[Tensor, "query key"]:
    """How much each query takes of each key's value: the Gaussian kernel of width σ, normalised over the keys."""
    bias = (-keys.square() / (2 * width**2)).expand(len(queries), len(keys))
    return attention_weights(queries[:, None], keys[:, None], scale=width**-2, bias=bias, mask=mask).weights


@dataclass(frozen=True, eq=False)
class Regression:
    """What one width makes of the points."""

    points: Points
    queries: Float[Tensor, "query"]  #: evenly spaced from 0 to `END`
    #: true, predicted: the curve that the values come from, and what pooling predicts, at the queries.
    true: Float[Tensor, "query"]
    predicted: Float[Tensor, "query"]
    weights: Float[Tensor, "query key"]  #: of the queries
    row: Float[Tensor, "key"]  #: the weights of one query that is looked at
    keys_used: float  #: 2 to the mean entropy of the queries in bits: over how many keys they average, as it were


def regression(width: float, query: float) -> Regression:
    """Pool the points with a kernel of this width along the whole curve, and look at one query."""
    points, queries = sample_points(), torch.linspace(0, END, QUERIES, dtype=torch.float64)
    weights = pooling_weights(queries, points.keys, width)
    row = pooling_weights(torch.tensor([query], dtype=torch.float64), points.keys, width)[0]
    keys_used = float(2 ** entropy_bits(weights).mean())
    return Regression(points, queries, true_curve(queries), weights @ points.values, weights, row, keys_used)


def left_out_error(points: Points, width: float) -> float:
    """The root of the mean squared error where each point is predicted from all others."""
    others = ~torch.eye(len(points.keys), dtype=torch.bool)
    predicted = pooling_weights(points.keys, points.keys, width, others) @ points.values
    return float((predicted - points.values).square().mean().sqrt())
