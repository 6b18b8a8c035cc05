"""Distances of heads, intervals of means over rows in sentences, and the strongest sentences."""

import math

import numpy as np
import torch

from model.analysis.atlas.head_distance import RatioInterval, divergence_sums
from model.analysis.atlas.measure import strongest

EVERY_ROW = torch.ones(3, dtype=torch.bool)


def test_rows_that_do_not_count_add_nothing() -> None:
    weights = torch.rand(4, 3, 5, generator=torch.Generator().manual_seed(1)).softmax(-1)
    one = torch.tensor([False, True, False])
    each = [divergence_sums(weights[:, [i]], torch.ones(1, dtype=torch.bool)) for i in range(3)]
    torch.testing.assert_close(divergence_sums(weights, one), each[1], atol=1e-5, rtol=0)
    torch.testing.assert_close(divergence_sums(weights, EVERY_ROW), each[0] + each[1] + each[2], atol=1e-5, rtol=0)
    assert not divergence_sums(weights, ~EVERY_ROW).any()


def test_the_interval_is_that_of_the_ratio_written_out_in_a_loop() -> None:
    rng = np.random.default_rng(2)
    rows = [rng.uniform(size=(int(count), 3)) for count in rng.integers(1, 12, size=40)]
    interval = RatioInterval.empty(3)
    for of_sentence in rows:
        interval.add(torch.from_numpy(of_sentence.sum(0)), len(of_sentence))
    total = sum(map(len, rows))
    mean = np.concatenate(rows).mean(0)
    np.testing.assert_allclose(interval.mean().numpy(), mean)
    square = sum((of_sentence.sum(0) - mean * len(of_sentence)) ** 2 for of_sentence in rows)
    error = np.sqrt(square * 40 / 39) / total
    np.testing.assert_allclose(interval.ends().numpy(), np.stack([mean - 1.96 * error, mean + 1.96 * error], -1))


def test_one_sentence_has_no_interval() -> None:
    interval = RatioInterval.empty(2)
    interval.add(torch.ones(2), 4)
    assert interval.mean().tolist() == [0.25, 0.25]
    assert bool(interval.ends().isnan().all())
    # With a second one: 1 of 4 rows and 2 of 2, so that the mean is ½, and both are 1 away from what it foretells.
    interval.add(torch.full((2,), 2.0), 2)
    error = math.sqrt((1 + 1) * 2 / 1) / 6
    np.testing.assert_allclose(interval.ends(), [[0.5 - 1.96 * error, 0.5 + 1.96 * error]] * 2)


def test_strongest_are_those_of_sorting_everything() -> None:
    values = np.random.default_rng(1).integers(0, 40, size=(3, 150)).astype(float)
    numbers = np.random.default_rng(2).permutation(150)
    expected = [sorted(range(150), key=lambda n: (-row[n], n))[:4] for row in values]
    assert strongest(values[:, numbers], np.stack([numbers] * 3), 4)[1].tolist() == expected
    few = strongest(np.array([[-np.inf], [0.5]]), np.array([[7], [7]]), 3)[1]
    assert few.tolist() == [[-1, -1, -1], [7, -1, -1]]
