"""Value-weighted norms: how much a head really carries from one token to another.

A weight says how a head divides its attention, not how long the vector is that it multiplies. Kobayashi et al. 2020
("Attention is Not Only a Weight: Analyzing Transformers with Vector Norms", §2) therefore measure ‖α_ij f(x_j)‖.
"""

from jaxtyping import Float
from torch import Tensor


def transformed_values(
    value: Float[Tensor, "*batch head key d_v"], output_projection: Float[Tensor, "head d_v d_model"]
) -> Float[Tensor, "*batch head key d_model"]:
    """f(x_j) = (x_j W_V + b_V) W_O of each head: the vector that it adds for a token, before weighting.

    Args:
        value: x_j W_V + b_V, so the value bias is included, as in the paper.
        output_projection: each head's rows of W_O. The output bias belongs to no token and is left out.
    """
    return value @ output_projection


def value_weighted_norms(
    weights: Float[Tensor, "*batch head query key"],
    value: Float[Tensor, "*batch head key d_v"],
    output_projection: Float[Tensor, "head d_v d_model"],
) -> Float[Tensor, "*batch head query key"]:
    """‖α_ij f(x_j)‖ = α_ij ‖f(x_j)‖, for weights are never negative. Not bounded by 1; rows do not sum to 1."""
    lengths: Tensor = transformed_values(value, output_projection).norm(dim=-1)
    return weights * lengths[..., None, :]


def norm_shares(norms: Float[Tensor, "head query key"]) -> Float[Tensor, "head query key"]:
    """‖α_ij f(x_j)‖ / Σ_k ‖α_ik f(x_k)‖: norms as shares of their row, for metrics that are defined on weights.

    A row whose norms are all 0 has shares of 0.
    """
    totals = norms.sum(dim=-1, keepdim=True)
    return norms / totals.masked_fill(totals == 0, 1.0)
