"""Both norms as heatmaps: rows are tokens, the followed one is framed."""

import numpy as np

from viz.pages.learn.transformer.embeddings import ROW, both_norms


def test_three_heatmaps_have_the_tokens_as_rows_and_frame_the_followed_one() -> None:
    before = np.arange(12, dtype=np.float32).reshape(3, 4)
    figure = both_norms(["a", "<b>x", "c"], 1, before, before - 5, before * 0)
    assert [list(trace.z[1]) for trace in figure.data] == [[4, 5, 6, 7], [-1, 0, 1, 2], [0, 0, 0, 0]]
    assert figure.data[0].zmax == 11
    assert figure.data[0].zmin == -11
    assert list(figure.data[0].customdata[1]) == ["&lt;b&gt;x"] * 4
    assert [(shape.y0, shape.y1) for shape in figure.layout.shapes] == [(0.5, 1.5)] * 3
    # Each stands on its own axes, from left to right, its title at its left edge and its first row at the top.
    assert [(trace.xaxis, trace.yaxis) for trace in figure.data] == [("x", "y"), ("x2", "y2"), ("x3", "y3")]
    axes = [(figure.layout.xaxis, figure.layout.yaxis), (figure.layout.xaxis2, figure.layout.yaxis2)]
    axes.append((figure.layout.xaxis3, figure.layout.yaxis3))
    lefts = [across.domain[0] for across, _ in axes]
    assert lefts == sorted(set(lefts)) == [title.x for title in figure.layout.annotations]
    assert [down.anchor for _, down in axes] == ["x", "x2", "x3"]
    assert [list(down.range) for _, down in axes[1:]] == [[2.5, -0.5]] * 2
    assert list(axes[0][1].ticktext) == ["a", "&lt;b&gt;x", "c"]
    more = both_norms(["a"] * 40, 1, np.ones((40, 4)), np.ones((40, 4)), np.ones((40, 4)))
    assert more.layout.height - figure.layout.height == 37 * ROW
