"""Nadaraya–Watson regression by the model's equation of attention."""

import pytest
import torch

from model.analysis import pooling


def test_the_weights_are_those_of_a_gaussian_kernel() -> None:
    keys, queries = pooling.sample_points().keys, torch.linspace(0, 5, 7, dtype=torch.float64)
    kernel = torch.exp(-((queries[:, None] - keys) ** 2) / (2 * 0.3**2))
    expected = kernel / kernel.sum(-1, keepdim=True)
    torch.testing.assert_close(pooling.pooling_weights(queries, keys, 0.3), expected, rtol=1e-6, atol=1e-9)


def test_a_narrow_kernel_looks_up_the_nearest_key_and_a_wide_one_takes_the_mean() -> None:
    points = pooling.sample_points()
    narrow, wide = pooling.regression(0.001, 2.0), pooling.regression(1000.0, 2.0)
    nearest = points.values[(points.keys - 2.0).abs().argmin()]
    assert float(narrow.row @ points.values) == pytest.approx(float(nearest))
    assert narrow.keys_used == pytest.approx(1.0, abs=0.05)
    assert float(wide.row @ points.values) == pytest.approx(float(points.values.mean()), abs=1e-4)
    assert wide.keys_used == pytest.approx(pooling.POINTS, rel=1e-3)


def test_a_left_out_point_is_not_predicted_from_itself() -> None:
    points = pooling.sample_points()
    # With itself, a kernel so narrow would be right everywhere.
    assert pooling.left_out_error(points, 0.001) > 0.1
