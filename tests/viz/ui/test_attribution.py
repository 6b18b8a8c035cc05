"""What is said of an attribution: hiding each word alone, the deletion test, and where both disagree."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from model.analysis.attribution.deletion import Deletion, HiddenAlone
from model.analysis.attribution.methods import Integration
from viz.access.attribution import Explained
from viz.ui.attribution import NAMES, answer, integration_sentence

WORDS = ("The", "dog", "was", "tired")
NAMED = {method: str(name) for method, name in NAMES.items()}


def explained(order: Sequence[int], *, losses: Sequence[float], said: Sequence[int], random: float = -1.0) -> Explained:
    values = np.array([0.0, -4.0, -6.0, -6.0, -6.0])
    alone = HiddenAlone(before=0.0, values=-np.array(losses), said_before=1, said=tuple(said))
    return Explained(
        words=WORDS,
        scores={"alti": np.ones(4)},
        rest={"alti": None},
        deletions={"alti": Deletion(tuple(order), values)},
        random=(Deletion((0, 1, 2, 3), np.full(5, random)),),
        alone=alone,
        tokens=tuple({1: "▁es", 2: "▁sie"}[token] for token in said),
        integration=None,
        lacking={},
    )


def test_words_that_change_the_choice_alone_come_first_in_what_is_said() -> None:
    said = answer(explained((3, 1, 0, 2), losses=(0.1, 2.0, 0.0, 5.0), said=(1, 1, 1, 2)), NAMED, "“es”")
    assert said.startswith("Why “es”? **One word, hidden alone, changes the choice: “tired” (then “sie”, −5.0 nats).**")
    both = answer(explained((3, 1, 0, 2), losses=(0.1, 2.0, 0.0, 5.0), said=(1, 2, 1, 2)), NAMED, "“es”")
    assert "2 words, each hidden alone, change the choice: “tired” (then “sie”, −5.0 nats), “dog” (then “sie”" in both


def test_where_no_word_alone_changes_it_the_one_that_costs_most_is_named() -> None:
    said = answer(explained((3, 1, 0, 2), losses=(0.1, 2.0, 0.0, 1.0), said=(1, 1, 1, 1)), NAMED, "“es”")
    assert "No word changes this if it is hidden alone; “dog” costs most, 2.0 nats." in said


@pytest.mark.parametrize(("order", "rank"), [((3, 1, 0, 2), 1), ((1, 3, 0, 2), 2), ((0, 1, 2, 3), 4)])
def test_an_order_that_names_the_most_needed_word_late_is_contradicted_beside_it(
    order: Sequence[int], rank: int
) -> None:
    given = explained(order, losses=(0.1, 2.0, 0.0, 5.0), said=(1, 1, 1, 2))
    said = answer(given, NAMED, "“es”")
    assert given.rank("alti") == rank
    assert ("But “tired”, which costs most alone, has rank" in said) == (rank > 1)
    assert rank == 1 or f"has rank {rank} of 4" in said
    assert "trust" not in said


def test_no_method_that_is_no_better_than_random_orders_is_named() -> None:
    given = explained((1, 3, 0, 2), losses=(0.1, 2.0, 0.0, 5.0), said=(1, 1, 1, 2), random=-1.0)
    worse = answer(given, NAMED, "“es”")
    assert "ALTI" in worse
    better_chance = Deletion((0, 1, 2, 3), np.array([0.0, -9.0, -9.0, -9.0, -9.0]))
    chance = answer(replace(given, random=(better_chance,)), NAMED, "“es”")
    assert "no method is better than chance" in chance
    assert "ALTI" not in chance


def test_what_integrated_gradients_miss_is_said_with_the_points_that_were_taken() -> None:
    close = integration_sentence(Integration(gained=8.0, missing=0.1, at_zero=0.0, points=144))
    assert "144 points" in close
    assert "at most 0.10 of the 8.00 nats" in close
    far = integration_sentence(Integration(gained=8.0, missing=1.5, at_zero=1.25, points=512))
    assert "are incomplete" in far
    assert "up to 1.50 of the 8.00 nats" in far
    assert "1.25 of them close to zero" in far
