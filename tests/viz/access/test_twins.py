"""A second sentence is offered only where it belongs to the first."""

import pytest

from viz.access import texts
from viz.pages.coreference.data import curated_pairs
from viz.selection.examples import EXAMPLES

CHANGE = (("tired",), ("wide",))


def test_examples_and_pairs_of_the_set_know_their_twins_both_ways() -> None:
    a, b = (case.sentence for case in curated_pairs()["it-04"].cases)
    for first, second in ((EXAMPLES[1].text, EXAMPLES[1].twin), (a, b)):
        assert texts.known_twin(first) == second
        assert texts.known_twin(second) == first
    assert texts.known_twin("Tom was late.") == ""


@pytest.mark.parametrize(
    ("first", "second", "how"),
    [
        (EXAMPLES[0].text, EXAMPLES[0].twin, CHANGE),
        ("It was too tired.", "It was far too wide.", (("too", "tired"), ("far", "too", "wide"))),
        ("It ran.", "It ran.", None),
        ("Tom saw a very old dog today.", "Everything else is new.", None),
        ("", "It ran.", None),
    ],
)
def test_the_words_that_differ_are_found(first: str, second: str, how: texts.Change | None) -> None:
    assert texts.change(first, second) == how


def test_the_same_words_are_changed_in_another_sentence_once_or_not_at_all() -> None:
    assert texts.changed("The dog was tired, it slept.", CHANGE) == "The dog was wide, it slept."
    assert texts.changed("The dog slept.", CHANGE) == ""
    assert texts.changed("A tired dog and a tired cat.", CHANGE) == ""


def test_sentences_that_share_few_words_are_told_from_twins() -> None:
    assert texts.shared_words(EXAMPLES[0].text, EXAMPLES[0].twin) == (10, 11)
    shared, count = texts.shared_words("Tom was late.", EXAMPLES[0].twin)
    assert shared * 2 < count
