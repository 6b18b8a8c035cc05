"""Scoring what is copied, and finding translations that babble."""

import pytest

from model.analysis.held_out import is_babble, is_copied, score_copying
from model.training.copying import held_out_copying

CASES = held_out_copying(48, seed=1)
REFERENCE = {case.pair.source: case.pair.target for case in CASES}


def test_references_copy_everything_and_none_babbles() -> None:
    scores = score_copying(CASES, lambda texts: [REFERENCE[text] for text in texts])
    assert (scores.sentences, scores.copied, scores.babbling, scores.failures) == (48, 1.0, 0, ())
    assert scores.kinds == {"words": 1.0, "names": 1.0, "numbers": 1.0}


def test_a_sentence_counts_only_with_all_of_its_words() -> None:
    numbers = [case for case in CASES if "numbers" in case.to_copy]
    both = [case for case in numbers if len(case.to_copy) > 1]

    def without_numbers(texts: list[str]) -> list[str]:
        return ["".join(letter for letter in REFERENCE[text] if not letter.isdecimal()) for text in texts]

    scores = score_copying(CASES, lambda texts: without_numbers(list(texts)))
    assert both
    assert scores.copied == pytest.approx(1 - len(numbers) / 48, abs=1e-4)
    assert scores.kinds == {"words": 1.0, "names": 1.0, "numbers": 0.0}
    assert [source for source, _ in scores.failures] == [case.pair.source for case in numbers]


def test_translations_that_babble_are_counted() -> None:
    scores = score_copying(CASES, lambda texts: [f"{REFERENCE[text]} Deckedecke" for text in texts])
    assert (scores.copied, scores.babbling, len(scores.failures)) == (1.0, 48, 48)


@pytest.mark.parametrize(
    ("text", "output", "expected"),
    [
        ("Zorplik", "Zorplik ist eine Stadt.", True),
        ("Zorplik", "Zorpliks Bürgermeister", True),
        ("Zorplik", "Zorpliken ist eine Stadt.", False),
        ("Zorplik", "zorplik", False),
        ("brale", "Was heißt „brale“?", True),
        ("33", "Es sind 33.", True),
        ("33", "Es sind 133.", False),
        ("33", "Es sind 3300.", False),
        ("33", "in den 33s", False),
    ],
)
def test_copied_is_letter_by_letter_and_a_word_of_its_own(text: str, output: str, *, expected: bool) -> None:
    assert is_copied(text, output) == expected


@pytest.mark.parametrize(
    "output",
    [
        "Die Deckedecke ist neu.",
        "Die Deckedeckedecke ist neu.",
        "Das ist Zeendramwondwonder.",
        "Er sah den Hund Hund Hund.",
        "Nein, nein, nein.",
        "der Der DER Mann",
    ],
)
def test_repetitions_babble(output: str) -> None:
    assert is_babble(output, "The blanket is new.")


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("Die Decke ist neu.", "The blanket is new."),
        ("Bonbons, Purpur, ein Kuckuck und ein Barbar.", "Candies, purple, a cuckoo and a barbarian."),
        ("Nein, nein, nein!", "No, no, no!"),
        ("Wie schreibt man „bralbral“?", "How do you spell “bralbral”?"),
        ("Er lachte und lachte.", "He laughed and laughed."),
        ("Dass das das Haus ist, weiß ich.", "I know that this is the house."),
        ("1000000 Menschen", "1000000 people"),
        ("", ""),
    ],
)
def test_what_repeats_itself_by_right_is_no_babble(output: str, source: str) -> None:
    assert not is_babble(output, source)
