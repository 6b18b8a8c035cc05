"""The attention of one hypothesis."""

import numpy as np

from viz.pages.decoding.figures import ancestor_heatmap


def test_rows_of_the_heatmap_name_what_went_in_what_came_out_and_the_row_of_the_batch() -> None:
    weights = np.array([[0.25, 0.75], [1.0, 0.0]], np.float32)
    figure = ancestor_heatmap(weights, ["<s> → ▁a", "▁a → <b>"], (0, 2), ["x", "y"])
    assert list(figure.layout.yaxis.ticktext) == ["&lt;s&gt; → ▁a · row 1", "▁a → &lt;b&gt; · row 3"]
    np.testing.assert_array_equal(figure.data[0].customdata, weights)
    np.testing.assert_allclose(figure.data[0].z, np.sqrt(weights))
