"""Bootstrap intervals of means over rows that come in groups.

Efron & Tibshirani 1993, "An Introduction to the Bootstrap", §13.3 (percentile intervals). Rows of a group are not
independent (a minimal pair asks one question twice), so groups are drawn, not rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from model import interruption

SAMPLES: Final = 2_000
LEVEL: Final = 0.95
SEED: Final = 1
#: Draws held at once: 32 MiB.
DRAWS_AT_ONCE: Final = 1 << 22


@dataclass(frozen=True, eq=False)
class Estimate:
    """Means, and the ends of their 95 % intervals, all of one shape."""

    value: Float[Tensor, "*metric"]
    low: Float[Tensor, "*metric"]
    high: Float[Tensor, "*metric"]

    def at(self, *index: int) -> tuple[float, float, float]:
        """Value, low and high of one metric."""
        return float(self.value[index]), float(self.low[index]), float(self.high[index])


def bootstrap_mean(values: Float[Tensor, "row *metric"], groups: Sequence[str]) -> Estimate:
    """The mean over rows of each metric, with its interval; drawn by a fixed seed, the same groups for all metrics."""
    numbers: dict[str, int] = {}
    group = torch.tensor([numbers.setdefault(name, len(numbers)) for name in groups])
    flat = values.double().reshape(len(values), -1)
    sums = torch.zeros(len(numbers), flat.size(1), dtype=torch.float64).index_add_(0, group, flat)
    sizes = torch.bincount(group).double()
    means = torch.cat([(drawn @ sums) / (drawn @ sizes)[:, None] for drawn in _drawn_counts(len(numbers))])
    tail = (1 - LEVEL) / 2
    low, high = (torch.from_numpy(end) for end in np.quantile(means.numpy(), (tail, 1 - tail), axis=0))
    shape = values.shape[1:]
    return Estimate(flat.mean(0).view(shape).float(), low.view(shape).float(), high.view(shape).float())


def _drawn_counts(groups: int) -> Iterator[Float[Tensor, "sample group"]]:
    """How often each group is drawn in each sample, as many draws as there are groups."""
    generator = torch.Generator().manual_seed(SEED)
    at_once = max(1, min(SAMPLES, DRAWS_AT_ONCE // groups))
    for first in range(0, SAMPLES, at_once):
        interruption.pause()
        samples = min(at_once, SAMPLES - first)
        drawn: Int[Tensor, "sample draw"] = torch.randint(groups, (samples, groups), generator=generator)
        counts = torch.zeros(samples, groups, dtype=torch.float64)
        yield counts.scatter_add_(1, drawn, torch.ones_like(drawn, dtype=torch.float64))
