"""Scoring the pronouns of translations."""

from collections.abc import Sequence

import pytest

from model.analysis.held_out import BEST_KNOWN, score_held_out, score_twins
from model.training.pronouns import HELD_OUT, held_out_twins, pronouns_in

TWINS = held_out_twins("combinations", "dev", 20, seed=2)
REFERENCE = {pair.source: pair.target for both in TWINS for pair in both}


def test_references_are_all_right() -> None:
    scores = score_twins(TWINS, lambda texts: [REFERENCE[text] for text in texts])
    assert (scores.cases, scores.right, scores.pairs, scores.both_right) == (40, 1.0, 20, 1.0)


def test_one_answer_for_both_sides_is_never_right_on_both() -> None:
    first = {pair.source: both[0].target for both in TWINS for pair in both}
    scores = score_twins(TWINS, lambda texts: [first[text] for text in texts])
    assert (scores.right, scores.both_right) == (0.5, 0.0)


@pytest.mark.parametrize(
    ("german", "pronouns"),
    [
        ("Der Hund schlief, weil er müde war.", ["er"]),
        ("Sie sah ihn, und er half ihr.", ["sie", "ihn", "er", "ihr"]),
        ("Erich erwartet ihren Besuch; es ist esoterisch.", ["es"]),
        ("Ihm? Ja.", ["ihm"]),
        ("", []),
    ],
)
def test_pronouns_are_found_as_whole_words(german: str, pronouns: list[str]) -> None:
    assert pronouns_in(german) == pronouns


def test_a_pronoun_too_many_is_wrong() -> None:
    def doubled(texts: Sequence[str]) -> list[str]:
        return [REFERENCE[text] + " Er auch." for text in texts]

    assert score_twins(TWINS, doubled).right == 0


def test_every_kind_is_scored_and_the_best_known_sentences_are_translated() -> None:
    scores = score_held_out(lambda texts: ["es" for _ in texts], "dev", 5)
    assert tuple(scores.kinds) == HELD_OUT
    assert scores.best_known == dict.fromkeys(BEST_KNOWN, "es")
