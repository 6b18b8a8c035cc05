"""Measures of attention other than the weights: value-weighted norms, and rollout through the layers.

A weight says how a head divides its attention, not how long the vector is that it multiplies. Kobayashi et al. 2020
("Attention is Not Only a Weight: Analyzing Transformers with Vector Norms", §2) therefore measure ‖α_ij f(x_j)‖.

Rollout follows attention through all layers up to one, heads averaged. Abnar & Zuidema 2020 ("Quantifying Attention
Flow in Transformers", §3): in a layer, half of a position comes from what it attends to and half stays, through the
residual connection; a path through the layers multiplies these shares.
"""

from collections.abc import Iterable, Iterator
from itertools import accumulate, islice

import torch
from jaxtyping import Float
from torch import Tensor

from model.trace.row_blocks import mean_over_heads
from model.trace.trace import Trace


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


def with_residual(weights: Float[Tensor, "*batch position position"]) -> Float[Tensor, "*batch position position"]:
    """Ã = ½ A + ½ I, with rows that sum to 1."""
    mixed = 0.5 * weights + 0.5 * torch.eye(weights.size(-1), device=weights.device)
    return mixed / mixed.sum(dim=-1, keepdim=True)


def attention_rollouts(
    weights: Iterable[Float[Tensor, "*batch position position"]],
) -> Iterator[Float[Tensor, "*batch position position"]]:
    """R = Ã_l … Ã_2 Ã_1 for each layer l: the share of each input position in each position after that layer.

    Args:
        weights: of each layer of one stack's self-attention, averaged over heads, first layer first. Of those that are
            made one by one, no two are held.
    """
    return accumulate(map(with_residual, weights), lambda below, mixed: mixed @ below)


def rollouts(trace: Trace, site: str) -> Iterator[Float[Tensor, "query key"]]:
    """Rollout of a site up to each of its layers, first layer first; of cross-attention, each over the whole encoder.

    The paper defines rollout for a stack that attends to itself. One layer's cross-attention is its last step, R = A
    R_encoder: without ½ I, for a target row is no position of the source. Raises a TraceError if there is no such site.
    """
    trace.layers_of(site)  # says so where there is no such site
    means = map(mean_over_heads, trace.inputs[site])
    if site != "decoder.cross":
        return attention_rollouts(means)
    *_, encoder = rollouts(trace, "encoder.self")
    return (mean @ encoder for mean in means)


def rollout_at(trace: Trace, site: str, layer: int) -> Float[Tensor, "query key"]:
    """Rollout of a site up to one layer, as `rollouts`. Raises a TraceError if there is no such site or layer."""
    trace.mask(site, layer, [])  # says so where there is no such site or layer
    return next(islice(rollouts(trace, site), layer, None))
