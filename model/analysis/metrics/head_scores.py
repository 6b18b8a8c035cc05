"""From hits per row and head to a table of heads, its best one, and a fair figure. Knows nothing of what a hit is.

The best of many heads, chosen on the rows it is scored on, looks better than it is. So a head is also chosen on one
half of the rows and scored on the other, both ways round, and the two halves are scored together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Measure = Literal["aer", "accuracy"]
"""What the figures are: the hit rate itself ("accuracy"), or what it lacks to 1 ("aer")."""


class Head(NamedTuple):
    """One head of a site, both counted from 0."""

    layer: int
    head: int


@dataclass(frozen=True, eq=False)
class HeadCounts:
    """How often each head was right.

    Attributes:
        hits: [row, layer, head or mean]; the last one of each layer belongs to the mean of its heads.
        totals: [row], the hits that were possible, the same for every head.
        folds: [row], 0 or 1: the half a row belongs to.
    """

    hits: Float[Tensor, "row layer head_or_mean"]
    totals: Float[Tensor, "row"]
    folds: Int[Tensor, "row"]

    def rates(self, rows: Bool[Tensor, "row"]) -> Float[Tensor, "layer head_or_mean"]:
        """Hits over totals, for the rows where `rows` is True."""
        return self.hits[rows].sum(0) / self.totals[rows].sum()

    def best(self, rows: Bool[Tensor, "row"]) -> Head:
        """The single head with the highest rate; of equal ones the first."""
        rates = self.rates(rows)[:, :-1]
        layer, head = divmod(int(rates.argmax()), rates.size(1))
        return Head(layer, head)


@dataclass(frozen=True)
class HeadScores:
    """The figures of all heads of one site.

    Attributes:
        measure: what the figures are.
        heads: [layer][head].
        head_averaged: [layer], of the mean of the layer's heads.
        best_head: the best single head, chosen on all rows.
        cross_selected: figure when the head is chosen on the other half of the rows; None if there is no other half.
        chosen: the heads chosen on the first and on the second half.
    """

    measure: Measure
    heads: tuple[tuple[float, ...], ...]
    head_averaged: tuple[float, ...]
    best_head: Head
    cross_selected: float | None
    chosen: tuple[Head, ...]

    @property
    def best(self) -> float:
        """The figure of the best head."""
        return self.heads[self.best_head.layer][self.best_head.head]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON: figures with 4 digits, layers and heads from "0"."""
        result: dict[str, Any] = {
            "heads": {str(layer): _numbered(row) for layer, row in enumerate(self.heads)},
            "best_head": {**self.best_head._asdict(), self.measure: round(self.best, 4)},
            "head_averaged": _numbered(self.head_averaged),
        }
        if self.cross_selected is not None:
            first, second = (head._asdict() for head in self.chosen)
            halves = {"chosen_on_first_half": first, "chosen_on_second_half": second}
            result["cross_selected"] = {self.measure: round(self.cross_selected, 4), **halves}
        return result


def score_heads(counts: HeadCounts, measure: Measure) -> HeadScores:
    """Figures of all heads, the best one, and two-fold cross-selection."""
    everything = torch.ones_like(counts.folds, dtype=torch.bool)
    figures = _figure(counts.rates(everything), measure).tolist()
    chosen: tuple[Head, ...] = ()
    cross_selected = None
    halves = [counts.folds == fold for fold in (0, 1)]
    if all(half.any() for half in halves):
        chosen = tuple(counts.best(half) for half in halves)
        hits = sum(counts.hits[~half, head.layer, head.head].sum() for half, head in zip(halves, chosen, strict=True))
        cross_selected = float(_figure(torch.as_tensor(hits) / counts.totals.sum(), measure))
    return HeadScores(
        measure=measure,
        heads=tuple(tuple(row[:-1]) for row in figures),
        head_averaged=tuple(row[-1] for row in figures),
        best_head=counts.best(everything),
        cross_selected=cross_selected,
        chosen=chosen,
    )


def rounded(figures: Mapping[str, float]) -> dict[str, float]:
    """Figures with 4 digits."""
    return {name: round(value, 4) for name, value in figures.items()}


def _numbered(figures: tuple[float, ...]) -> dict[str, float]:
    return rounded({str(i): value for i, value in enumerate(figures)})


def _figure(rates: Tensor, measure: Measure) -> Tensor:
    return rates if measure == "accuracy" else 1 - rates
