"""Attention rollout: attention through all layers up to one, heads averaged.

Abnar & Zuidema 2020 ("Quantifying Attention Flow in Transformers", §3): in a layer, half of a position comes from what
it attends to and half stays, through the residual connection; a path through the layers multiplies these shares.
"""

from collections.abc import Iterable, Iterator
from itertools import accumulate, islice

import torch
from jaxtyping import Float
from torch import Tensor

from model.trace.row_blocks import mean_over_heads
from model.trace.trace import Trace


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
    R_encoder: without ½ I, for a target row is no position of the source.

    Raises:
        TraceError: there is no such site.
    """
    trace.layers_of(site)  # says so where there is no such site
    means = map(mean_over_heads, trace.inputs[site])
    if site != "decoder.cross":
        return attention_rollouts(means)
    *_, encoder = rollouts(trace, "encoder.self")
    return (mean @ encoder for mean in means)


def rollout_at(trace: Trace, site: str, layer: int) -> Float[Tensor, "query key"]:
    """Rollout of a site up to one layer, as `rollouts`.

    Raises:
        TraceError: there is no such site or layer.
    """
    trace.mask(site, layer, [])  # says so where there is no such site or layer
    return next(islice(rollouts(trace, site), layer, None))
