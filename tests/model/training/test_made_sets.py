"""Sentences as people type them, and sentences to measure copying with."""

import re
from collections.abc import Callable

import pytest

from model.pairs import Pair
from model.training.copying import FRAMES, HELD_OUT_FRAMES, held_out_copying
from model.training.typed_variants import capitals, lower_case, other_negation, without_stop


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


SLOT = re.compile(r"\{\w\}")
CASES = held_out_copying(300, seed=1)


def words_of(text: str) -> str:
    return " ".join(re.findall(r"\w+|_", SLOT.sub("_", text.lower())))


def test_no_held_out_frame_has_the_words_of_one_that_is_learned() -> None:
    for side in (0, 1):
        held_out, learned = ({words_of(frame[side]) for frame in frames} for frames in (HELD_OUT_FRAMES, FRAMES))
        assert len(held_out) == len(HELD_OUT_FRAMES) >= 20
        assert not held_out & learned


def test_what_is_to_be_copied_stands_in_both_sentences_and_all_of_the_slots_are_named() -> None:
    for case, (english, german) in zip(CASES, HELD_OUT_FRAMES * 20, strict=False):
        assert set(SLOT.findall(english)) == set(SLOT.findall(german))
        assert len(case.to_copy) == len(SLOT.findall(english)) > 0
        for text in case.to_copy.values():
            assert text in case.pair.source
            assert text in case.pair.target
        assert "{" not in case.pair.source + case.pair.target
    assert {kind for case in CASES for kind in case.to_copy} == {"words", "names", "numbers"}
