"""Sentences as people type them."""

import random
from collections.abc import Callable

import pytest

from model.pairs import Pair
from model.training.made_sets import capitals, lower_case, mistyped, other_negation, typed_variants, without_stop


@pytest.mark.parametrize(
    ("change", "pair", "expected"),
    [
        (lower_case, ("Tom is ill.", "Tom ist krank."), ("tom is ill.", "Tom ist krank.")),
        (capitals, ("Tom's ill.", "Tom ist krank."), ("TOM'S ILL.", "Tom ist krank.")),
        (without_stop, ("I know.", "Ich weiß."), ("I know", "Ich weiß")),
        (without_stop, ("Really?", "Wirklich?"), ("Really?", "Wirklich?")),
        (without_stop, ("Well...", "Nun..."), ("Well...", "Nun...")),
        (without_stop, ("Stop.", "Halt!"), ("Stop.", "Halt!")),
        (other_negation, ("He didn't go.", "x"), ("He did not go.", "x")),
        (other_negation, ("He did not go, I do not know.", "x"), ("He didn't go, I don't know.", "x")),
        (other_negation, ("He doesn’t.", "x"), ("He does not.", "x")),
        (other_negation, ("I can't and won't.", "x"), ("I can't and won't.", "x")),
    ],
)
def test_each_change_does_what_it_says(
    change: Callable[[Pair], Pair], pair: tuple[str, str], expected: tuple[str, str]
) -> None:
    assert change(Pair(*pair)) == Pair(*expected)


def test_a_slip_changes_one_word_after_its_first_letter_and_nothing_else() -> None:
    pair = Pair("The animal is very tired.", "Das Tier ist sehr müde.")
    slipped = {mistyped(pair, random.Random(seed)).source for seed in range(200)}
    assert {"The aniaml is very tired.", "The anial is very tired.", "The animmal is very tired."} & slipped
    for source in slipped - {pair.source}:
        words = source.split()
        changed = [(a, b) for a, b in zip(words, pair.source.split(), strict=True) if a != b]
        ((word, whole),) = changed
        assert (word[0], set(word) <= set(whole), abs(len(word) - len(whole)) <= 1) == (whole[0], True, True)


def test_a_short_word_has_no_slip() -> None:
    assert mistyped(Pair("He is up.", "Er ist auf."), random.Random(1)) == Pair("He is up.", "Er ist auf.")


def test_variants_differ_from_their_pair_and_come_in_about_the_share_asked_for() -> None:
    pairs = [Pair(f"Number {i} didn't come.", f"Nummer {i} kam nicht.") for i in range(2000)]
    variants = list(typed_variants(pairs, 0.1, seed=1))
    assert 150 < len(variants) < 250
    assert not set(variants) & set(pairs)
    assert variants == list(typed_variants(pairs, 0.1, seed=1))
    assert list(typed_variants(pairs, 0.0, seed=1)) == []


def test_a_pair_that_no_change_touches_has_no_variant() -> None:
    assert list(typed_variants([Pair("1", "1")] * 100, 1.0, seed=1)) == []
