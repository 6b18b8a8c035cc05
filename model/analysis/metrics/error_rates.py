"""Compute the error rate of every head from counted hits, and of the best head one that is not too good.

The best of many heads, chosen on the rows it is scored on, looks better than it is. So a head is also chosen on one
half of the rows and scored on the other, both ways round, and the two halves are scored together.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.analysis.metrics.head_names import LayerHead


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
    """Error rates of all heads of one site.

    Attributes:
        heads, head_averaged: [layer][head], and [layer] of the mean of the layer's heads.
        best_head: the best single head, chosen on all rows.
        cross_selected: error rate when the head is chosen on the other half of the rows; None without another half.
        chosen: the heads chosen on the first and on the second half.
    """

    heads: tuple[tuple[float, ...], ...]
    head_averaged: tuple[float, ...]
    best_head: LayerHead
    cross_selected: float | None
    chosen: tuple[LayerHead, ...]

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
