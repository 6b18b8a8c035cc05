"""The scatter of heads by two metrics, tables of an atlas, and words of its metrics."""

import csv

import numpy as np
import pytest

from model.analysis.atlas.measure import Atlas
from viz.pages.atlas import data, export, head_panel
from viz.pages.atlas.figures import Axis, Points, name_places, scatter
from viz.pages.atlas.metric_texts import HeadMap, View
from viz.text.written import CROSS, ENCODER

VALUES = np.array([[0.5, np.nan], [0.75, 0.25]], np.float32)
DISTANCES = np.array([[0, 1, 5, 5], [1, 0, 2, 2], [5, 2, 0, 3], [5, 2, 3, 0]], np.float32)


def test_the_nearest_heads_come_first_and_of_equal_ones_the_first() -> None:
    np.testing.assert_array_equal(head_panel.nearest(DISTANCES, 2), [[1, 2], [0, 2], [1, 3], [1, 2]])
    assert head_panel.nearest(np.zeros((1, 1), np.float32)).size == 0


ACROSS, UP = Axis("First", "", 2, chance=0.5), Axis("Second", "bits", 1)
SOME = {
    ENCODER: Points(np.array([[0.1, 0.2], [0.3, np.nan]]), np.array([[1.0, 2.0], [3.0, 4.0]])),
    CROSS: Points(np.array([[0.4, 0.5]]), np.array([[np.nan, 0.5]])),
}


def test_a_head_without_one_of_both_numbers_has_no_point_and_attentions_differ_in_colour_and_shape() -> None:
    figure = scatter(SOME, ACROSS, UP, selected=(ENCODER, 1, 0))
    ring, encoder, cross = figure.data
    assert (ring.x[0], ring.y[0]) == (0.3, 3.0)
    assert [tuple(custom[:3]) for custom in (*encoder.customdata, *cross.customdata)] == [
        (ENCODER, 0, 0), (ENCODER, 0, 1), (ENCODER, 1, 0), (CROSS, 0, 1),
    ]  # fmt: skip
    assert list(encoder.customdata[1][3:]) == ["L1 H2", "0.20", "2.0 bits"]
    assert encoder.marker.color != cross.marker.color
    assert encoder.marker.symbol != cross.marker.symbol
    assert [tuple(spot[:3]) for spot in figure.layout.meta["heads"]] == [
        (ENCODER, 0, 0), (ENCODER, 0, 1), (ENCODER, 1, 0), (CROSS, 0, 1),
    ]  # fmt: skip
    # A dotted line where chance is.
    assert [(line.x0, line.x1) for line in figure.layout.shapes] == [(0.5, 0.5)]


def test_heads_outside_of_a_lasso_are_pale_and_a_head_without_a_point_has_no_ring() -> None:
    figure = scatter(SOME, ACROSS, UP, selected=(CROSS, 0, 0), marked=[(ENCODER, 0, 1)])
    encoder, cross = figure.data
    opacity = [*encoder.marker.opacity, *cross.marker.opacity]
    assert [value == 1 for value in opacity] == [False, True, False, False]


def test_names_lie_over_no_point_and_no_other_name() -> None:
    """Plotly writes a name of 7 pixels a letter and 14 a line beside its point, which has 7 on each side."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 2)) * [[1, 0.1]]
    names = [f"L{at % 6 + 1} H{at % 8 + 1}" for at in range(60)]
    places = name_places(points, names, first=59)
    assert None in places
    assert places[59] is not None
    pixels = points * 330 / np.ptp(points, axis=0)
    sides = {"left": -1, "center": 0, "right": 1, "top": 1, "middle": 0, "bottom": -1}
    boxes = []
    for (x, y), place in zip(pixels, places, strict=True):
        if place:
            up, across = (sides[part] for part in place.split())
            middle, low = x + across * (35 / 2 + 7), y + up * 14 - 7
            boxes.append((middle - 35 / 2, low, middle + 35 / 2, low + 14))
    overlaps = [
        (one, other)
        for at, one in enumerate(boxes)
        for other in boxes[:at]
        if one[0] < other[2] - 1e-6 and other[0] < one[2] - 1e-6
        and one[1] < other[3] - 1e-6 and other[1] < one[3] - 1e-6
    ]  # fmt: skip
    assert not overlaps
    # As many names have room however large the numbers are.
    assert places == name_places(100 * points, names, first=59)


def test_tables_hold_the_numbers_and_leave_out_what_is_none(atlas: Atlas) -> None:
    lines = list(csv.DictReader(data.table(atlas).decode("utf-8-sig").splitlines()))
    assert len(lines) == 3 * 8
    line = lines[8 + 5]  # decoder.self L2 H2
    named = line["site"], line["layer (from 1)"], line["head (from 1)"], line["next"]
    assert named == ("decoder.self", "2", "2", "")
    assert np.float32(line["norm_entropy"]) == atlas.metrics["norm_entropy"][1, 1, 1]
    apart = data.distances(atlas, "encoder.self")
    rows = list(csv.reader(export.distances(apart, 4).decode("utf-8-sig").splitlines()))
    assert (rows[0][7], rows[2][0]) == ("L2 H3", "L1 H2")
    assert np.float32(rows[2][7]) == apart[1, 6]


def ranked(key: str, values: list[list[float]]) -> View:
    head_map = HeadMap(key, "First", "", np.array(values, np.float32), 2)
    return View(ENCODER, 0, head_map.values.shape, key, "norms", (HeadMap("other", "", "", VALUES, 1), head_map))


def test_the_best_heads_are_the_highest_or_of_an_error_the_lowest() -> None:
    numbers = [[0.5, np.nan, 0.75], [0.5, 0.25, 1.0]]
    view, errors = ranked("first", numbers), ranked("aer_word_in", numbers)
    assert view.best(3) == [(1, 2), (0, 2), (0, 0)]
    assert errors.best(9) == [(1, 1), (0, 0), (1, 0), (0, 2), (1, 2)]
    assert (view.name, errors.name) == ("norm_first", "norm_aer_word_in")


def test_a_centred_scale_reaches_as_far_below_its_centre_as_above() -> None:
    below = HeadMap("a", "A", "", np.array([[0.1, np.nan, 0.6]]), 2, centre=0.5)
    assert below.ends == pytest.approx((0.1, 0.9))
    assert HeadMap("a", "A", "", np.full((1, 2), np.nan), 2, centre=0.5).ends == (0.5, 0.5)
