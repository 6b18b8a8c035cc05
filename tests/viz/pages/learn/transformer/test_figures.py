"""Both norms as heatmaps: rows are tokens, the followed one is framed."""

import numpy as np

from viz.pages.learn.transformer.embeddings import both_norms


def test_three_heatmaps_have_the_tokens_as_rows_and_frame_the_followed_one() -> None:
    before = np.arange(12, dtype=np.float32).reshape(3, 4)
    figure = both_norms(["a", "<b>x", "c"], 1, before, before - 5, before * 0)
    assert [list(trace.z[1]) for trace in figure.data] == [[4, 5, 6, 7], [-1, 0, 1, 2], [0, 0, 0, 0]]
    assert figure.data[0].zmax == 11
    assert figure.data[0].zmin == -11
    assert list(figure.data[0].customdata[1]) == ["&lt;b&gt;x"] * 4
    assert [(shape.y0, shape.y1) for shape in figure.layout.shapes] == [(0.5, 1.5)] * 3
