"""Estimate what a number of a head is worth: error rates with cross-selection, bootstrap intervals of means.

The best of many heads, chosen on the rows it is scored on, looks better than it is. So a head is also chosen on one
half of the rows and scored on the other, both ways round, and the two halves are scored together.

Bootstrap: Efron & Tibshirani 1993, "An Introduction to the Bootstrap", §13.3 (percentile intervals). Rows of a group
are not independent (a minimal pair asks one question twice), so groups are drawn, not rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model import interruption
from model.analysis.metrics.head_metrics import LayerHead


@dataclass(frozen=True, eq=False)
class HeadCounts:
    """How often each head was right, of how many possible hits; `folds` is 0 or 1, the half a row belongs to."""

    hits: Float[Tensor, "row layer head_or_mean"]
    totals: Float[Tensor, "row"]
    folds: Int[Tensor, "row"]

    def error_rates(self, rows: Bool[Tensor, "row"]) -> Float[Tensor, "layer head_or_mean"]:
        """1 − hits over totals, for the rows where `rows` is True; last in each layer, of the mean of its heads."""
        return 1 - self.hits[rows].sum(0) / self.totals[rows].sum()

    def best(self, rows: Bool[Tensor, "row"]) -> LayerHead:
        """The single head with the lowest error rate; of equal ones the first."""
        rates = self.error_rates(rows)[:, :-1]
        return LayerHead(*divmod(int(rates.argmin()), rates.size(1)))


@dataclass(frozen=True)
class ErrorRates:
    """Error rates of all heads of one site."""

    #: heads, head_averaged: [layer][head], and [layer] of the mean of the layer's heads.
    heads: tuple[tuple[float, ...], ...]
    head_averaged: tuple[float, ...]
    best_head: LayerHead  #: the best single head, chosen on all rows
    #: error rate when the head is chosen on the other half of the rows; None without another half.
    cross_selected: float | None
    chosen: tuple[LayerHead, ...]  #: the heads chosen on the first and on the second half

    @property
    def best(self) -> float:
        """The error rate of the best head."""
        return self.heads[self.best_head.layer][self.best_head.head]


def score_heads(counts: HeadCounts) -> ErrorRates:
    """Error rates of all heads, the best one, and two-fold cross-selection."""
    everything = torch.ones_like(counts.folds, dtype=torch.bool)
    rates = counts.error_rates(everything).tolist()
    chosen: tuple[LayerHead, ...] = ()
    cross_selected = None
    halves = [counts.folds == fold for fold in (0, 1)]
    if all(half.any() for half in halves):
        chosen = tuple(counts.best(half) for half in halves)
        hits = sum(counts.hits[~half, head.layer, head.head].sum() for half, head in zip(halves, chosen, strict=True))
        cross_selected = float(1 - torch.as_tensor(hits) / counts.totals.sum())
    return ErrorRates(
        heads=tuple(tuple(row[:-1]) for row in rates),
        head_averaged=tuple(row[-1] for row in rates),
        best_head=counts.best(everything),
        cross_selected=cross_selected,
        chosen=chosen,
    )


SAMPLES: Final = 2_000
LEVEL: Final = 0.95
SEED: Final = 1
#: Draws held at once: 32 MiB.
DRAWS_AT_ONCE: Final = 1 << 22


@dataclass(frozen=True, eq=False)
class Estimate:
    """Means or medians, and the ends of their 95 % intervals, all of one shape."""

    value: Float[Tensor, "*metric"]
    low: Float[Tensor, "*metric"]
    high: Float[Tensor, "*metric"]

    def at(self, *index: int) -> tuple[float, float, float]:
        """Value, low and high of one metric."""
        return float(self.value[index]), float(self.low[index]), float(self.high[index])


def bootstrap_mean(values: Float[Tensor, "row *metric"], groups: Sequence[str]) -> Estimate:
    """The mean over rows of each metric, with its interval; drawn by a fixed seed, the same groups for all metrics."""
    group, size = _numbered(groups)
    flat = values.double().reshape(len(values), -1)
    sums = torch.zeros(size, flat.size(1), dtype=torch.float64).index_add_(0, group, flat)
    sizes = torch.bincount(group).double()
    means = torch.cat([(drawn @ sums) / (drawn @ sizes)[:, None] for drawn in _drawn_counts(size)])
    shape = values.shape[1:]
    return _estimate(flat.mean(0).view(shape), means.view(-1, *shape))


def bootstrap_ratio(
    of: Float[Tensor, "group *metric"], by: Float[Tensor, "group *metric"], samples: int = SAMPLES
) -> Estimate:
    """Σ of / Σ by over groups, with its interval; 0 where there is nothing to divide by. Drawn as `bootstrap_mean`."""
    flat = [part.double().reshape(len(part), -1) for part in (of, by)]

    def ratios(counts: Float[Tensor, "sample group"]) -> Float[Tensor, "sample metric"]:
        above, below = (counts @ part for part in flat)
        return torch.where(below > 0, above / below.clamp(min=torch.finfo(torch.float64).tiny), 0.0)

    drawn = torch.cat([ratios(counts) for counts in _drawn_counts(len(of), samples)])
    value = ratios(torch.ones(1, len(of), dtype=torch.float64))
    return _estimate(value.view(of.shape[1:]), drawn.view(-1, *of.shape[1:]))


def bootstrap_median(values: Float[Tensor, "row *metric"], groups: Sequence[str] = ()) -> Estimate:
    """The median over rows of each metric, with its interval; the same groups are drawn for all metrics.

    Without `groups` each row is one.
    """
    return _estimate(*_medians(values, groups))


def bootstrap_median_gain(
    before: Float[Tensor, "row *metric"], after: Float[Tensor, "row *metric"], groups: Sequence[str]
) -> Estimate:
    """By how much the median of `after` is below that of `before`, of the same rows; else as `bootstrap_median`."""
    (value, drawn), (after_value, after_drawn) = _medians(before, groups), _medians(after, groups)
    return _estimate(value - after_value, drawn - after_drawn)


def _estimate(value: Float[Tensor, "*metric"], drawn: Float[Tensor, "sample *metric"]) -> Estimate:
    tail = (1 - LEVEL) / 2
    low, high = (torch.from_numpy(np.asarray(end)) for end in np.quantile(drawn.numpy(), (tail, 1 - tail), axis=0))
    return Estimate(*(each.view(value.shape).float() for each in (value, low, high)))


def _medians(
    values: Float[Tensor, "row *metric"], groups: Sequence[str]
) -> tuple[Float[Tensor, "*metric"], Float[Tensor, "sample *metric"]]:
    """The median of each metric: over all rows, and in each sample over the rows of the groups that were drawn."""
    rows, shape = len(values), values.shape[1:]
    group, size = _numbered(groups or [str(row) for row in range(rows)])
    ordered, order = values.double().reshape(rows, -1).sort(0)

    def medians(counts: Float[Tensor, "sample group"]) -> Float[Tensor, "sample metric"]:
        reached = counts[:, group[order]].cumsum(1)  # [sample, row in order, metric]
        half = reached[:, -1:] / 2
        # Of an even number, the mean of the two in the middle.
        middle = [(is_past.double().argmax(1)) for is_past in (reached >= half, reached > half)]
        return (ordered.gather(0, middle[0]) + ordered.gather(0, middle[1])) / 2

    drawn = torch.cat([medians(counts) for counts in _drawn_counts(size)])
    value = medians(torch.ones(1, size, dtype=torch.float64))
    return value.view(shape), drawn.view(-1, *shape)


def _numbered(names: Sequence[str]) -> tuple[Int[Tensor, "row"], int]:
    """The number of each row's group, and how many groups there are."""
    numbers: dict[str, int] = {}
    return torch.tensor([numbers.setdefault(name, len(numbers)) for name in names]), len(numbers)


def _drawn_counts(groups: int, samples: int = SAMPLES) -> Iterator[Float[Tensor, "sample group"]]:
    """How often each group is drawn in each sample, as many draws as there are groups."""
    generator = torch.Generator().manual_seed(SEED)
    at_once = max(1, min(samples, DRAWS_AT_ONCE // groups))
    for first in range(0, samples, at_once):
        interruption.pause()
        count = min(at_once, samples - first)
        drawn: Int[Tensor, "sample draw"] = torch.randint(groups, (count, groups), generator=generator)
        counts = torch.zeros(count, groups, dtype=torch.float64)
        yield counts.scatter_add_(1, drawn, torch.ones_like(drawn, dtype=torch.float64))
