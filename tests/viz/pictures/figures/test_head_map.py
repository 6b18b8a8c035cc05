"""Maps of accuracy."""

import numpy as np

from viz.pictures.figures.heads import head_map


def test_a_map_is_dark_at_its_centre_and_reaches_as_far_as_the_largest_deviation() -> None:
    figure = head_map(np.array([[0.5, 0.75], [0.4, 0.5]]), title="accuracy", centre=0.5, floor=0.1)
    heatmap = figure.data[0]
    assert (heatmap.zmin, heatmap.zmax) == (0.25, 0.75)
    flat = head_map(np.full((2, 2), 0.52), title="accuracy", centre=0.5, floor=0.1).data[0]
    assert (flat.zmin, flat.zmax) == (0.4, 0.6)
