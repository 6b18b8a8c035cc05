"""Compute the learning rate of a step."""

from typing import Literal

Decay = Literal["paper", "linear"]


def learning_rate(step: int, *, decay: Decay, warmup: int, d_model: int, peak: float, total: int) -> float:
    """The rate at a step, counted from 1.

    Args:
        decay: "paper" = d_model^−½ · min(step^−½, step · warmup^−1.5) (§5.3, eq. 3), times `peak` (1 = the paper);
            "linear" = up to `peak` over `warmup` steps, then straight down to zero at `total`.
        warmup: steps of rising rate.
    """
    if decay == "paper":
        return float(peak * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))
    if step <= warmup:
        return peak * step / warmup
    return peak * max(0.0, (total - step) / max(1, total - warmup))
