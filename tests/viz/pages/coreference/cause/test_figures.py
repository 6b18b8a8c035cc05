"""Heads by two metrics."""

import numpy as np

from viz.pages.coreference.cause.figures import two_metrics

SITES = ("encoder.self", "decoder.self", "decoder.cross")


def test_a_point_is_a_head_and_hangs_on_both_its_figures() -> None:
    first = np.arange(24, dtype=float).reshape(3, 2, 4)
    figure = two_metrics(first, first * 2, SITES, ("one", "two"))
    cross = figure.data[3]
    assert list(cross.x) == list(first[2].ravel())
    assert list(cross.y) == list(2 * first[2].ravel())
    assert cross.customdata[-1] == "L2 H4"
