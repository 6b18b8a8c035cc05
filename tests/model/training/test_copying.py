"""Sentences to measure copying with: apart from those that are learned, and the same each time."""

import re

from model.training.copying import FRAMES, HELD_OUT_FRAMES, copying_pairs, held_out_copying

SLOT = re.compile(r"\{\w\}")
CASES = held_out_copying(300, seed=1)


def words_of(text: str) -> str:
    return " ".join(re.findall(r"\w+|_", SLOT.sub("_", text.lower())))


def matches(english: str) -> re.Pattern[str]:
    return re.compile(".+".join(map(re.escape, SLOT.split(english))), re.IGNORECASE)


def test_no_held_out_frame_has_the_words_of_one_that_is_learned() -> None:
    for side in (0, 1):
        held_out, learned = ({words_of(frame[side]) for frame in frames} for frames in (HELD_OUT_FRAMES, FRAMES))
        assert len(held_out) == len(HELD_OUT_FRAMES) >= 20
        assert not held_out & learned


def test_no_learned_frame_gives_a_sentence_that_is_measured_nor_the_other_way_round() -> None:
    learned = [pair.source for pair in copying_pairs(2_000, seed=3)]
    for english, _ in FRAMES:
        assert not [case for case in CASES if matches(english).fullmatch(case.pair.source)], english
    for english, _ in HELD_OUT_FRAMES:
        assert not [source for source in learned if matches(english).fullmatch(source)], english


def test_what_is_to_be_copied_stands_in_both_sentences_and_all_of_the_slots_are_named() -> None:
    for case, (english, german) in zip(CASES, HELD_OUT_FRAMES * 20, strict=False):
        assert set(SLOT.findall(english)) == set(SLOT.findall(german))
        assert len(case.to_copy) == len(SLOT.findall(english)) > 0
        for text in case.to_copy.values():
            assert text in case.pair.source
            assert text in case.pair.target
        assert "{" not in case.pair.source + case.pair.target
    assert {kind for case in CASES for kind in case.to_copy} == {"words", "names", "numbers"}


def test_the_same_seed_draws_the_same_sentences_and_another_others() -> None:
    assert held_out_copying(50, seed=1) == CASES[:50]
    others = {case.pair.source for case in held_out_copying(300, seed=2)}
    assert len(others & {case.pair.source for case in CASES}) < 5
