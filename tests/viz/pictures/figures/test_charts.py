"""Axes that charts share."""

import pytest

from viz.pictures.figures.charts import doubling_axis


@pytest.mark.parametrize(("count", "labelled"), [(5, 5), (6, 6), (7, 4), (12, 6), (13, 5)])
def test_at_most_six_sizes_are_labelled_among_them_the_last(count: int, labelled: int) -> None:
    sizes = [1 << power for power in range(count)]
    ticks = doubling_axis("tokens", sizes)["tickvals"]
    assert (len(ticks), ticks[-1]) == (labelled, sizes[-1])
