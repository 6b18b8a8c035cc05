"""Distances of heads and their map."""

import numpy as np
import torch

from model.analysis.atlas.head_distance import classical_scaling, divergence_sums, head_map

EVERY_ROW = torch.ones(3, dtype=torch.bool)


def test_rows_that_do_not_count_add_nothing() -> None:
    weights = torch.rand(4, 3, 5, generator=torch.Generator().manual_seed(1)).softmax(-1)
    one = torch.tensor([False, True, False])
    each = [divergence_sums(weights[:, [i]], torch.ones(1, dtype=torch.bool)) for i in range(3)]
    torch.testing.assert_close(divergence_sums(weights, one), each[1], atol=1e-5, rtol=0)
    torch.testing.assert_close(divergence_sums(weights, EVERY_ROW), each[0] + each[1] + each[2], atol=1e-5, rtol=0)
    assert not divergence_sums(weights, ~EVERY_ROW).any()


def distances(positions: np.ndarray) -> np.ndarray:
    return np.linalg.norm(positions[:, None] - positions[None], axis=-1)


def test_points_of_a_plane_get_back_their_distances() -> None:
    points = np.random.default_rng(4).normal(size=(7, 2)) * [3, 1]
    found = classical_scaling(distances(points))
    np.testing.assert_allclose(distances(found), distances(points), atol=1e-9)
    np.testing.assert_allclose(found.mean(0), 0, atol=1e-9)
    assert np.ptp(found[:, 0]) > np.ptp(found[:, 1])


def test_of_more_dimensions_the_two_widest_are_kept() -> None:
    points = np.random.default_rng(4).normal(size=(9, 3)) * [9, 4, 0.01]
    np.testing.assert_allclose(distances(classical_scaling(distances(points))), distances(points), atol=0.1)


def test_each_axis_of_a_map_points_to_its_farthest_head() -> None:
    points = np.array([[-9.0, 0], [1, 2], [4, 1], [4, -3]])
    for turned in (points, -points):
        found = classical_scaling(distances(turned))
        for axis in range(2):
            assert found[np.abs(found[:, axis]).argmax(), axis] > 0


def test_a_map_of_equal_heads_is_one_place_and_one_head_has_one_too() -> None:
    assert not head_map(np.zeros((3, 3))).any()
    assert head_map(np.zeros((1, 1))).tolist() == [[0, 0]]


def test_a_map_of_heads_keeps_the_root_of_their_divergence() -> None:
    """Of three heads: any three points of a Euclidean space lie in a plane."""
    weights = torch.rand(3, 3, 5, generator=torch.Generator().manual_seed(2)).softmax(-1)
    mean = divergence_sums(weights, EVERY_ROW).numpy() / 3
    np.testing.assert_allclose(distances(head_map(mean)) ** 2, mean, atol=1e-9)
