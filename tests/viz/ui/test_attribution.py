"""What is said of an attribution: hiding each word alone, the deletion test, and where both disagree."""

import csv
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.analysis.attribution.choice import TokenScores
from model.analysis.attribution.methods import Deletion, HiddenAlone, Integration
from model.analysis.interventions.head_verdict import HeadVerdict, Intervention
from model.analysis.metrics.head_metrics import HeadName
from viz.access.attribution import Explained
from viz.access.head_verdict import Stated
from viz.pictures.figures import heads
from viz.ui.attribution import NAMES, answer, integration_sentence, numbers, sentence

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
        uncertain=np.zeros(0),
        lacking={},
    )


def test_words_that_change_the_choice_alone_come_first_in_what_is_said() -> None:
    said = answer(explained((3, 1, 0, 2), losses=(0.1, 2.0, 0.0, 5.0), said=(1, 1, 1, 2)), NAMED, "“es”")
    assert said.startswith("Why “es”? **One word, hidden alone, changes the choice: “tired” (then “sie”, −5.0 nats).**")
    both = answer(explained((3, 1, 0, 2), losses=(0.1, 2.0, 0.0, 5.0), said=(1, 2, 1, 2)), NAMED, "“es”")
    assert "2 words, each hidden alone, change the choice: “tired” (then “sie”, −5.0 nats), “dog” (then “sie”" in both


def test_the_table_says_of_each_word_when_it_is_hidden_and_what_that_costs() -> None:
    written = numbers(explained((3, 1, 0, 2), losses=(0.1, 2.0, 0.0, 5.0), said=(1, 1, 1, 2))).decode("utf-8-sig")
    rows = list(csv.DictReader(written.splitlines()))
    assert [(row["text"], row["hidden_as"]) for row in rows] == list(zip(WORDS, "3241", strict=True))
    assert [float(rows[1][name]) for name in ("score", "choice_nats_before", "choice_nats", "alone_nats")] == [
        1, -4, -6, -2,
    ]  # fmt: skip
    assert [row["alone_says"] for row in rows] == ["▁es", "▁es", "▁es", "▁sie"]


@pytest.mark.parametrize(("order", "rank"), [((3, 1, 0, 2), 1), ((1, 3, 0, 2), 2), ((0, 1, 2, 3), 4)])
def test_an_order_that_names_the_most_needed_word_late_is_contradicted_beside_it(
    order: Sequence[int], rank: int
) -> None:
    given = explained(order, losses=(0.1, 2.0, 0.0, 5.0), said=(1, 1, 1, 2))
    said = answer(given, NAMED, "“es”")
    assert given.rank("alti") == rank
    assert ("But “tired”, which costs most when hidden alone, has rank" in said) == (rank > 1)
    assert rank == 1 or f"has rank {rank} of 4" in said
    assert "trust" not in said


@pytest.mark.parametrize(
    ("fall", "by_chance", "is_better"),
    [
        (2.0, 1.9, True),
        (2.0, 2.0, False),
        (2.0, 2.1, False),
        (0.1, -1.0, True),
        (0.0, -1.0, False),
        (-0.5, -1.0, False),
    ],
)
def test_an_order_is_better_than_chance_where_the_choice_falls_and_more_than_in_random_orders(
    fall: float, by_chance: float, is_better: bool
) -> None:
    given = explained((1, 3, 0, 2), losses=(0.1, 2.0, 0.0, 5.0), said=(1, 1, 1, 2))
    own, chance = (Deletion((1, 3, 0, 2), np.array([0.0, *[-each] * 4])) for each in (fall, by_chance))
    said = answer(replace(given, deletions={"alti": own}, random=(chance,)), NAMED, "“es”")
    assert ("“es” loses most when words are hidden in the order of **ALTI**" in said) == is_better
    assert ("no method is better than chance" in said) != is_better
    # A random order that does as well is not beaten.
    assert replace(given, deletions={"alti": own}, random=(chance, own, chance)).beaten("alti") == 2 * (
        fall > by_chance
    )


def test_what_integrated_gradients_leave_uncertain_is_said_of_each_word() -> None:
    given = explained((3, 1, 0, 2), losses=(0.1, 2.0, 0.0, 5.0), said=(1, 1, 1, 2))
    assert integration_sentence(given) == ""
    none = torch.zeros(0)
    sure = Integration(
        gained=8.0, missing=0.0, uncertain=TokenScores(torch.full((4,), 0.01), none), largest=3.0, points=144
    )
    scores = {**given.scores, "integrated": np.array([3.0, -0.2, 0.5, -1.0])}
    doubts = np.array([0.3, 0.25, 0.4, 0.1])
    given = replace(given, scores=scores, integration=sure, uncertain=doubts)
    close = integration_sentence(given)
    assert "144 points" in close
    assert "off by more than 0.010 nats" in close
    unsure = replace(sure, points=2_000, uncertain=TokenScores(torch.tensor(doubts), none))
    far = integration_sentence(replace(given, integration=unsure))
    assert "have not converged here after 2,000 points" in far
    assert "“The” +3.00 ± 0.30, “dog” −0.20 ± 0.25 (sign uncertain), “was” +0.50 ± 0.40, “tired” −1.00 ± 0.10." in far


def test_words_are_coloured_by_each_rows_largest_number_and_random_orders_are_a_band() -> None:
    given = explained((3, 1, 0, 2), losses=(0.5, -2.0, 1.0, 0.0), said=(1, 1, 1, 1))
    words = heads.word_map(given, NAMED).data[0]
    np.testing.assert_array_equal(words.z, [[0.25, -1, 0.5, 0], [1, 1, 1, 1]])
    np.testing.assert_array_equal(words.customdata[0], (0.5, -2.0, 1.0, 0.0))
    band, mean, line = heads.deletion_lines(given, NAMED, "nats").data
    assert (list(mean.y), list(line.y)) == ([-1.0] * 5, [0, -4, -6, -6, -6])
    assert (list(band.x), list(band.y)) == ([0, 1, 2, 3, 4, 4, 3, 2, 1, 0], [-1.0] * 10)


HEAD = HeadName("decoder.cross", 4, 1)
STAYS, CHANGES = Intervention(-1.26, 5), Intervention(-9.0, 6)


def of(off: Intervention, swapped: Intervention | None, pointed: Intervention | None) -> str:
    names = {5: "▁es", 6: "▁sie"}
    verdict = HeadVerdict(head=HEAD, before=4.0, said=5, off=off, swapped=swapped, pointed=pointed, key=2)
    said = ["" if each is None else names[each.said] for each in (off, swapped, pointed)]
    key = "▁street" if pointed else ""
    return sentence(Stated(verdict, "▁es", "▁sie", off=said[0], swapped=said[1], pointed=said[2], key=key))


def test_the_three_interventions_stand_side_by_side_behind_what_follows_from_them() -> None:
    assert of(STAYS, CHANGES, CHANGES) == (
        "cross L5 H2 can change the choice of “es” rather than “sie”, but the choice does not depend on it: when it is "
        "switched off, “es” stays (−1.3 nats); when it is pointed at “street”, the choice becomes “sie” (−9.0 nats); "
        "with its output from the other sentence, the choice becomes “sie” (−9.0 nats)."
    )
    needed, unmoved = of(CHANGES, STAYS, STAYS), of(STAYS, STAYS, STAYS)
    assert needed.startswith(
        "The choice of “es” rather than “sie” depends on cross L5 H2: when it is switched off, the choice becomes “sie”"
    )
    assert unmoved.startswith(
        "cross L5 H2 alone does not change the choice of “es” rather than “sie”: when it is switched off"
    )
