"""Intervals of means over rows that come in sentences."""

import numpy as np
import torch

from model.analysis.atlas.head_distance import RatioInterval


def test_the_interval_is_that_of_the_ratio_written_out_in_a_loop() -> None:
    rng = np.random.default_rng(2)
    rows = [rng.uniform(size=(int(count), 3)) for count in rng.integers(1, 12, size=40)]
    interval = RatioInterval(3)
    for of_sentence in rows:
        interval.add(torch.from_numpy(of_sentence.sum(0)), len(of_sentence))
    total = sum(map(len, rows))
    mean = np.concatenate(rows).mean(0)
    np.testing.assert_allclose(interval.mean().numpy(), mean)
    square = sum((of_sentence.sum(0) - mean * len(of_sentence)) ** 2 for of_sentence in rows)
    error = np.sqrt(square * 40 / 39) / total
    np.testing.assert_allclose(interval.ends().numpy(), np.stack([mean - 1.96 * error, mean + 1.96 * error], -1))


def test_sentences_that_are_alike_in_themselves_leave_a_wider_interval_than_as_many_rows() -> None:
    together, apart = RatioInterval(1), RatioInterval(1)
    for value in (0.0, 1.0) * 5:
        together.add(torch.tensor([10 * value]), 10)
        for _ in range(10):
            apart.add(torch.tensor([value]), 1)
    widths = [float(interval.ends()[0, 1] - interval.ends()[0, 0]) for interval in (together, apart)]
    assert widths[0] > 3 * widths[1]


def test_one_sentence_has_no_interval() -> None:
    interval = RatioInterval(2)
    interval.add(torch.ones(2), 4)
    assert interval.mean().tolist() == [0.25, 0.25]
    assert bool(interval.ends().isnan().all())
