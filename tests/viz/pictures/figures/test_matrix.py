"""A matrix as a heatmap."""

import numpy as np

from viz.pictures.figures.matrix import signed_scale


def test_tiny_differences_are_not_blown_up() -> None:
    scale = signed_scale("x", np.array([1e-6]), floor=0.1)
    assert (scale.low, scale.high) == (-0.1, 0.1)
