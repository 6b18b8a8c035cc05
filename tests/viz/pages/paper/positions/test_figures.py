"""Positions as pictures."""

import numpy as np
import pytest

from model.analysis.positions import Likeness
from viz.pages.paper.mask_figures import (
    MAX_POINTS,
    dimension_curve,
    encoding_heatmap,
    likeness_over_distance,
    position_curve,
    shift_on_circle,
)


def test_the_matrix_has_a_row_a_position_with_the_tokens_of_the_sentence_and_a_line_below_them() -> None:
    encoding = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    figure = encoding_heatmap(encoding, ["a", "<b>"])
    np.testing.assert_array_equal(figure.data[0].z, encoding)
    assert list(figure.layout.yaxis.ticktext) == ["0  a", "1  &lt;b&gt;", "2"]
    assert list(figure.layout.xaxis.ticktext) == ["0", "1", "2", "3"]
    assert [shape.y0 for shape in figure.layout.shapes] == [1.5]


def test_the_matrix_of_a_sentence_that_fills_it_has_no_line() -> None:
    assert encoding_heatmap(np.zeros((2, 4), np.float32), ["a", "b"]).layout.shapes == ()


def test_sines_and_cosines_of_a_position_are_two_curves() -> None:
    row = np.array([0.1, 0.2, 0.3, 0.4])
    sine, cosine = position_curve(row, np.array([[0, 1], [2, 3]])).data
    assert (list(sine.x), list(sine.y), sine.name) == ([0, 2], [0.1, 0.3], "sine (even)")
    assert (list(cosine.x), list(cosine.y), cosine.name) == ([1, 3], [0.2, 0.4], "cosine (odd)")
    sine, cosine = position_curve(row, np.array([[0, 2], [1, 3]])).data
    assert (list(sine.x), list(sine.y), sine.name) == ([0, 1], [0.1, 0.2], "sine (first half)")
    assert (list(cosine.x), list(cosine.y), cosine.name) == ([2, 3], [0.3, 0.4], "cosine (second half)")


@pytest.mark.parametrize(("wavelength", "bands"), [(2.5, [2.5]), (3.5, [])])
def test_one_wavelength_is_marked_where_it_fits(wavelength: float, bands: list[float]) -> None:
    figure = dimension_curve(np.arange(4.0), np.zeros(4), np.array([0.0, 1.0, 0.0, -1.0]), ["a"], wavelength)
    assert [shape.x1 for shape in figure.layout.shapes] == bands
    assert [list(trace.x) for trace in figure.data[1:]] == [[0], [1, 2, 3]]


def test_pairs_are_drawn_at_their_distance_with_both_tokens_on_hover() -> None:
    pairs = Likeness(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([5.0, 3.0, 7.0]), None)
    points, curve, means = likeness_over_distance(
        np.array([9.0, 6.0, 3.0]), pairs, ["a", "b", "<i>"], shows_means=True
    ).data
    assert (list(points.x), list(points.y)) == ([1, 2, 1], [5, 3, 7])
    assert points.customdata[1] == "<b>a</b> (0) and <b>&lt;i&gt;</b> (2)"
    assert list(curve.y) == [9, 6, 3]
    assert (list(means.x), list(means.y)) == ([1, 2], [6, 3])


def test_of_very_many_pairs_evenly_spaced_ones_are_drawn() -> None:
    first, second = np.triu_indices(300, 1)
    pairs = Likeness(first, second, np.zeros(len(first)), None)
    figure = likeness_over_distance(np.zeros(300), pairs, ["a"] * 300, shows_means=True)
    assert len(figure.data[0].x) <= MAX_POINTS
    assert len(figure.data[2].x) == 299


def test_one_token_has_no_pairs_and_still_a_curve() -> None:
    nothing = np.array([], int)
    figure = likeness_over_distance(
        np.array([1.0, 2.0]), Likeness(nothing, nothing, np.array([]), None), ["a"], shows_means=True
    )
    assert [len(trace.x) for trace in figure.data] == [0, 2]


def test_the_arc_leads_from_the_position_to_the_shifted_one() -> None:
    angles = 0.7 * np.arange(12)
    figure = shift_on_circle(np.sin(angles), np.cos(angles), 4, 3, 2.1)
    _, arc, start, end = figure.data
    assert np.arctan2(arc.y[0], arc.x[0]) == pytest.approx(np.arctan2(start.y[1], start.x[1]))
    assert np.arctan2(arc.y[-1], arc.x[-1]) == pytest.approx(np.arctan2(end.y[1], end.x[1]))
    assert (start.name, end.name) == ("pos = 4", "pos + k = 7")
