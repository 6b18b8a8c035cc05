"""Attention rollout: attention through all layers up to one, heads averaged.

Abnar & Zuidema 2020 ("Quantifying Attention Flow in Transformers", §3): in a layer, half of a position comes from what
it attends to and half stays, through the residual connection; a path through the layers multiplies these shares.
"""

from collections.abc import Iterable
from functools import reduce

import torch
from jaxtyping import Float
from torch import Tensor

from model.trace.row_blocks import mean_over_heads
from model.trace.trace import Trace


def with_residual(weights: Float[Tensor, "*batch position position"]) -> Float[Tensor, "*batch position position"]:
    """Ã = ½ A + ½ I, with rows that sum to 1."""
    mixed = 0.5 * weights + 0.5 * torch.eye(weights.size(-1), device=weights.device)
    return mixed / mixed.sum(dim=-1, keepdim=True)


def attention_rollout(
    weights: Iterable[Float[Tensor, "*batch position position"]],
) -> Float[Tensor, "*batch position position"]:
    """R = Ã_L … Ã_2 Ã_1: the share of each input position in each position after the last of these layers.

    Args:
        weights: of each layer of one stack's self-attention, averaged over heads, first layer first. Of those that are
            made one by one, no two are held.
    """
    return reduce(lambda below, mixed: mixed @ below, map(with_residual, weights))


def rollout_at(trace: Trace, site: str, layer: int) -> Float[Tensor, "query key"]:
    """Rollout of a site's own stack up to `layer`; for cross-attention, of that layer over the whole encoder.

    The paper defines rollout for a stack that attends to itself. One layer's cross-attention is its last step, R = A
    R_encoder: without ½ I, for a target row is no position of the source.

    Raises:
        TraceError: there is no such site or layer.
    """
    if site == "decoder.cross":
        encoder = rollout_at(trace, "encoder.self", len(trace.inputs["encoder.self"]) - 1)
        trace.mask(site, layer, [])  # says so where there is no such layer
        return mean_over_heads(trace.inputs[site][layer]) @ encoder
    trace.mask(site, layer, [])  # says so where there is no such site or layer
    return attention_rollout(mean_over_heads(trace.inputs[site][below]) for below in range(layer + 1))
