"""Learning rates rise and fall as they are meant to."""

from itertools import pairwise

import pytest

from model.training.optimizer import learning_rate


def test_the_papers_rate_peaks_at_the_end_of_the_warm_up() -> None:
    rates = [
        learning_rate(step, decay="paper", warmup=4000, d_model=512, peak=1, total=100_000)
        for step in (1, 2000, 3999, 4000, 4001, 16_000)
    ]
    assert max(rates) == rates[3] == pytest.approx(512**-0.5 * 4000**-0.5)
    assert rates[5] == pytest.approx(rates[3] / 2)
    assert rates[1] == pytest.approx(rates[3] / 2)


def test_the_linear_rate_rises_to_its_peak_and_falls_to_zero() -> None:
    rates = [learning_rate(s, decay="linear", warmup=10, d_model=8, peak=0.5, total=30) for s in range(1, 31)]
    assert rates[9] == max(rates) == 0.5
    assert rates[19] == pytest.approx(0.25)
    assert rates[29] == 0
    assert all(a > b for a, b in pairwise(rates[9:]))
