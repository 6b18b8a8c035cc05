"""Heads by two metrics."""

import numpy as np

from model.analysis.metrics.head_names import HeadName
from viz.pages.coreference.cause.figures import two_metrics
from viz.pages.coreference.cause.site_maps import by_site

SITES = ("encoder.self", "decoder.self", "decoder.cross")


def test_a_point_is_a_head_and_hangs_on_both_its_figures() -> None:
    heads = [HeadName(site, layer, head) for site in SITES for layer in range(2) for head in range(4)]
    first = np.arange(24, dtype=float)
    figure = two_metrics(first, first * 2, heads, ("one", "two"))
    cross = figure.data[3]
    assert list(cross.x) == list(first[16:])
    assert list(cross.y) == list(2 * first[16:])
    assert cross.customdata[-1] == "L2 H4"


def test_stacks_of_unequal_height_have_maps_of_their_own() -> None:
    heads = [HeadName("encoder.self", 0, 0), HeadName("encoder.self", 0, 1), HeadName("encoder.self", 1, 0)]
    tables = by_site(np.arange(5.0), [*heads, HeadName("decoder.cross", 0, 0), HeadName("decoder.cross", 0, 1)])
    assert list(tables) == ["encoder.self", "decoder.cross"]
    np.testing.assert_array_equal(tables["encoder.self"], [[0, 1], [2, np.nan]])
    np.testing.assert_array_equal(tables["decoder.cross"], [[3, 4]])
