"""Compute label-smoothed cross entropy and its gradient in one pass."""

from typing import Any, Final

import torch
from jaxtyping import Float, Int
from torch import Tensor

#: Numbers in 32 bit that a processor's cache holds beside other things.
CACHED: Final = 1 << 18


def smoothed_cross_entropy(
    logits: Float[Tensor, "token vocab"],
    token_ids: Int[Tensor, " token"],
    smoothing: float,
    weights: Float[Tensor, " token"] | None = None,
) -> Float[Tensor, ""]:
    """Mean cross entropy per token in nats, against a target that keeps 1 − smoothing for the right piece (§5.4).

    The rest of the mass is spread evenly over the vocabulary, as in Szegedy et al. 2016. Of `weights`, each token's
    part is multiplied by its own; the number of tokens stays the divisor. The gradient, (softmax − target) · weight /
    tokens, is made during the forward pass, some rows at a time so that they stay in a processor's cache: each number
    of the token × vocabulary array is fetched from memory once and put back once.
    """
    return _SmoothedCrossEntropy.apply(logits, token_ids, smoothing, weights)  # type: ignore[no-untyped-call, no-any-return]


class _SmoothedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, token_ids: Tensor, smoothing: float, weights: Tensor | None) -> Tensor:
        num_tokens, vocab_size = logits.shape
        rows = max(1, CACHED // vocab_size) if logits.device.type == "cpu" else max(1, num_tokens)
        gradient, losses = torch.empty_like(logits), logits.new_empty(num_tokens, dtype=torch.float32)
        for start in range(0, num_tokens, rows):
            part = slice(start, start + rows)
            right_ids = token_ids[part, None]
            shifted = logits[part].to(torch.float32, copy=True)
            shifted -= shifted.amax(-1, keepdim=True)
            right, mean = shifted.gather(-1, right_ids)[:, 0], shifted.mean(-1)
            exponentials = shifted.exp_()
            total = exponentials.sum(-1, keepdim=True)
            losses[part] = total[:, 0].log() - (1 - smoothing) * right - smoothing * mean
            scale = torch.full_like(total, 1 / num_tokens)
            if weights is not None:
                losses[part] *= weights[part]
                scale *= weights[part, None]
            exponentials.mul_(scale / total).sub_(scale * (smoothing / vocab_size))
            gradient[part] = exponentials.scatter_add_(-1, right_ids, scale * (smoothing - 1))
        ctx.save_for_backward(gradient)
        return losses.mean()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * grad_output.to(gradient.dtype), None, None, None
