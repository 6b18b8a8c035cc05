"""Compute label-smoothed cross entropy and its gradient in one pass."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor


def smoothed_cross_entropy(
    logits: Float[Tensor, "token vocab"],
    token_ids: Int[Tensor, " token"],
    smoothing: float,
    weights: Float[Tensor, " token"] | None = None,
) -> Float[Tensor, ""]:
    """Mean cross entropy per token in nats, against a target that keeps 1 − smoothing for the right piece (§5.4).

    The rest of the mass is spread evenly over the vocabulary, as in Szegedy et al. 2016. Of `weights`, each token's
    part is multiplied by its own; the number of tokens stays the divisor. The gradient, (softmax − target) · weight /
    tokens, is made in place during the forward pass: torch's own loss reads and writes the token × vocabulary array
    about three times as often, which on a CPU was a quarter of a training step.
    """
    return _SmoothedCrossEntropy.apply(logits, token_ids, smoothing, weights)  # type: ignore[no-untyped-call, no-any-return]


class _SmoothedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, token_ids: Tensor, smoothing: float, weights: Tensor | None) -> Tensor:
        num_tokens, vocab_size = logits.shape
        shifted = logits.to(torch.float32, copy=True)
        shifted -= shifted.amax(-1, keepdim=True)
        right = shifted.gather(-1, token_ids[:, None])[:, 0]
        mean = shifted.mean(-1)
        exponentials = shifted.exp_()
        total = exponentials.sum(-1, keepdim=True)
        losses = total[:, 0].log() - (1 - smoothing) * right - smoothing * mean
        gradient = exponentials.div_(total).sub_(smoothing / vocab_size)
        gradient.scatter_add_(-1, token_ids[:, None], torch.full_like(total, smoothing - 1))
        if weights is not None:
            losses = losses * weights
            gradient.mul_(weights[:, None])
        ctx.save_for_backward(gradient.div_(num_tokens).to(logits.dtype))
        return losses.mean()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * grad_output.to(gradient.dtype), None, None, None
