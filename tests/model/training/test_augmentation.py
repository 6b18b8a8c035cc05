"""Sentences as people type them."""

from collections.abc import Callable

import pytest

from model.pairs import Pair
from model.training.augmentation import lower_case, other_negation, typed_variants, without_stop


@pytest.mark.parametrize(
    ("change", "pair", "expected"),
    [
        (lower_case, ("Tom is ill.", "Tom ist krank."), ("tom is ill.", "Tom ist krank.")),
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


def test_variants_differ_from_their_pair_and_come_in_about_the_share_asked_for() -> None:
    pairs = [Pair(f"Number {i} didn't come.", f"Nummer {i} kam nicht.") for i in range(2000)]
    variants = list(typed_variants(pairs, 0.1, seed=1))
    assert 150 < len(variants) < 250
    assert not set(variants) & set(pairs)
    assert variants == list(typed_variants(pairs, 0.1, seed=1))
    assert list(typed_variants(pairs, 0.0, seed=1)) == []


def test_a_pair_that_no_change_touches_has_no_variant() -> None:
    assert list(typed_variants([Pair("ok", "ok")] * 100, 1.0, seed=1)) == []
