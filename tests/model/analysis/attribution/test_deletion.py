"""The deletion test: words hidden one after the other."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.analysis.attribution import choice
from model.analysis.attribution.choice import visible
from model.analysis.attribution.deletion import Deletion, HiddenAlone, delete, most_runs, order_of, random_orders
from model.analysis.attribution.runs import TranslatorRun

WORDS = [[0], [1, 2], [3]]


def value_without(run: TranslatorRun, hidden: Sequence[int]) -> float:
    return float(run.choice.of_logits(run.seen_logits(visible(len(run.choice.source), [hidden]))))


@torch.no_grad()
def test_each_value_is_the_choice_with_so_many_words_hidden(run: TranslatorRun) -> None:
    ((found,), alone) = delete(run, WORDS, [(1, 2, 0)])
    for value, hidden in zip(found.values, ([], [1, 2], [1, 2, 3], [0, 1, 2, 3]), strict=True):
        assert value == pytest.approx(value_without(run, hidden), abs=1e-4)
    assert alone.before == found.values[0]
    for value, hidden in zip(alone.values, WORDS, strict=True):
        assert value == pytest.approx(value_without(run, hidden), abs=1e-4)


@torch.no_grad()
def test_what_is_said_without_a_word_is_the_likeliest_token_or_the_likelier_of_two(run: TranslatorRun) -> None:
    for against in (None, 5, 11):
        asked = replace(run, choice=replace(run.choice, against=against))
        _, alone = delete(asked, WORDS, [])
        for said, value, hidden in zip(alone.said, alone.values, WORDS, strict=True):
            logits = run.seen_logits(visible(len(run.choice.source), [hidden]))[0]
            if against is None:
                assert said == int(logits.argmax())
            else:
                assert said == (asked.choice.token if value > 0 else against)


def test_words_that_change_the_choice_come_by_what_they_cost() -> None:
    alone = HiddenAlone(before=1.0, values=np.array([0.5, -2.0, 2.0, -1.0]), said_before=7, said=(7, 8, 9, 8))
    np.testing.assert_allclose(alone.losses, [0.5, 3.0, -1.0, 2.0])
    assert alone.most_needed == 1
    assert alone.changes == (1, 3, 2)


def test_orders_begin_and_end_alike_and_sets_that_come_twice_run_once(
    run: TranslatorRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[tuple[int, int]] = []
    monkeypatch.setattr(choice, "TOKENS_AT_ONCE", 1)
    orders = [(0, 1, 2), (1, 0, 2)]
    (first, second), _ = delete(run, WORDS, orders, lambda done, total: runs.append((done, total)))
    assert first.values[[0, 2, 3]].tolist() == second.values[[0, 2, 3]].tolist()
    # Nothing, each word, all words, and 0 and 1 together: the other pair is asked by no order.
    assert runs == [(done, 6) for done in range(1, 7)]
    assert most_runs(len(WORDS), len(orders)) == 7


@torch.no_grad()
@pytest.mark.parametrize("words", [1, 2, 3])
def test_there_are_as_many_runs_as_said_where_no_two_orders_share_a_set(run: TranslatorRun, words: int) -> None:
    runs: list[int] = []
    delete(run, WORDS[:words], [tuple(range(words))], lambda done, total: runs.append(done))
    assert runs[-1] == most_runs(words, 1)


def test_the_fall_is_the_mean_over_all_numbers_of_words() -> None:
    assert Deletion((1, 0), np.array([-1.0, -3.0, -2.0])).fall == pytest.approx(1.5)


def test_words_with_the_most_come_first_and_random_orders_are_the_same_again() -> None:
    assert order_of([0.1, -2.0, 0.5]) == (2, 0, 1)
    drawn = random_orders(4)
    assert drawn == random_orders(4)
    assert all(sorted(order) == [0, 1, 2, 3] for order in drawn)
    assert len(set(drawn)) > 1
