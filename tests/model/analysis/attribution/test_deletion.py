"""The deletion test: words hidden one after the other."""

import numpy as np
import pytest
import torch

from model.analysis.attribution import of_translator
from model.analysis.attribution.choice import visible
from model.analysis.attribution.deletion import Deletion, delete, most_runs, order_of, random_orders
from model.analysis.attribution.of_translator import TranslatorRun

WORDS = [[0], [1, 2], [3]]


@torch.no_grad()
def test_each_value_is_the_choice_with_so_many_words_hidden(run: TranslatorRun) -> None:
    (found,) = delete(run, WORDS, [(1, 2, 0)])
    for value, hidden in zip(found.values, ([], [1, 2], [1, 2, 3], [0, 1, 2, 3]), strict=True):
        alone = run.of_seen(visible(len(run.choice.source), [hidden]))
        assert value == pytest.approx(float(alone), abs=1e-4)


def test_orders_begin_and_end_alike_and_sets_that_come_twice_run_once(
    run: TranslatorRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[tuple[int, int]] = []
    monkeypatch.setattr(of_translator, "TOKENS_AT_ONCE", 1)
    orders = [(0, 1, 2), (1, 0, 2)]
    first, second = delete(run, WORDS, orders, lambda done, total: runs.append((done, total)))
    assert first.values[[0, 2, 3]].tolist() == second.values[[0, 2, 3]].tolist()
    assert runs == [(done, 5) for done in range(1, 6)]
    assert most_runs(len(WORDS), len(orders)) == 6


def test_the_fall_is_the_mean_over_all_numbers_of_words() -> None:
    assert Deletion((1, 0), np.array([-1.0, -3.0, -2.0])).fall == pytest.approx(1.5)


def test_words_with_the_most_come_first_and_random_orders_are_the_same_again() -> None:
    assert order_of([0.1, -2.0, 0.5]) == (2, 0, 1)
    drawn = random_orders(4)
    assert drawn == random_orders(4)
    assert all(sorted(order) == [0, 1, 2, 3] for order in drawn)
    assert len(set(drawn)) > 1
