"""Figures that several tabs of the decoding page draw."""

import numpy as np

from viz.pages.decoding.figures import Written, attention_difference, common_difference, probability_curves
from viz.pictures.figures.heads import align


def test_the_difference_is_taken_between_the_tokens_that_both_have() -> None:
    ours, theirs = np.arange(9.0).reshape(3, 3), np.ones((2, 3))
    rows, columns = align(["a", "b", "c"], ["a", "c"]), align(["x", "y", "z"], ["x", "y", "z"])
    found = common_difference(ours, theirs, rows, columns)
    np.testing.assert_array_equal(found, [[-1, 0, 1], [5, 6, 7]])
    figure = attention_difference(found, ["a", "c"], ["x", "y", "z"])
    np.testing.assert_array_equal(figure.data[0].customdata, found)


def test_curves_count_steps_from_one_and_draw_tokens_literally() -> None:
    one, other = Written("one", ("<b>a</b>", "b"), (0.5, 0.25)), Written("<i>", ("c",), (1.0,))
    figure = probability_curves(one, other, 1)
    assert [list(trace.x) for trace in figure.data] == [[1], [1, 2]]
    assert figure.data[1].customdata[0] == "&lt;b&gt;a&lt;/b&gt;"
    assert figure.data[0].name == "&lt;i&gt;"
    assert figure.layout.shapes[0].x0 == 1.5
