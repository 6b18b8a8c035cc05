"""A ladder of heads."""

import numpy as np

from viz.pages.coreference import figures


def test_a_ladder_puts_the_most_accurate_head_first_and_keeps_its_interval() -> None:
    values = np.array([0.4, 0.9, 0.6])
    figure = figures.head_ladder(
        ["L1 H1", "L1 H2", "L1 H3"], values, values - 0.1, values + 0.05, {"chance": 0.5, "nearest candidate": 0.45}
    )
    (points,) = figure.data
    assert list(points.x) == list(figure.layout.xaxis.categoryarray) == ["L1 H2", "L1 H3", "L1 H1"]
    # A list of ticks would be drawn whole, one label over the other where the page is narrow.
    assert figure.layout.xaxis.tickvals is None
    assert list(points.y) == [0.9, 0.6, 0.4]
    np.testing.assert_allclose(points.error_y.array, 0.05)
    np.testing.assert_allclose(points.error_y.arrayminus, 0.1)


def test_baselines_cross_the_whole_picture_also_of_a_single_head() -> None:
    one = np.array([0.4])
    figure = figures.head_ladder(["L1 H1"], one, one, one, {"chance": 0.5, "nearest candidate": 0.45})
    assert [(line.xref, line.x0, line.x1) for line in figure.layout.shapes] == [("paper", 0, 1)] * 2
    assert [(line.y0, line.y1) for line in figure.layout.shapes] == [(0.5, 0.5), (0.45, 0.45)]


def test_sentences_in_a_hover_are_not_read_as_html() -> None:
    figure = figures.margin_bars(np.array([1.0]), ["<b>it</b>"])
    assert figure.data[0].customdata[0] == "&lt;b&gt;it&lt;/b&gt;"
