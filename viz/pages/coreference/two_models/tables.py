"""The distances between the heads of two models as CSV: a row a head of the first, a column a head of the second."""

from typing import TYPE_CHECKING

from viz.ui.trace_tables import digits, table

if TYPE_CHECKING:
    from model.analysis.two_models import HeadDistances


def distances(found: "HeadDistances") -> bytes:
    """Every distance, in bits; heads are named layer.head, from 0."""
    rows, columns = ([f"{head.layer}.{head.head}" for head in heads] for heads in (found.first, found.second))
    numbers = digits(found.distances.numpy())
    return table(("layer.head", *columns), ((name, *line) for name, line in zip(rows, numbers, strict=True)))
