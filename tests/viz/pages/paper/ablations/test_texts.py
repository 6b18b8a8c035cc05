"""What is said of a small model's output follows from what was measured."""

from dataclasses import replace

import pytest

from model.analysis.ablations.outputs import OTHERS, Repetition, SharedWords
from viz.pages.paper import wording
from viz.pages.paper.data.ablations import Measured, Output, Row, SetResult

SOUND = Measured(
    Output("no-positions", "x", 40.0),
    SharedWords(6, 4, 4),
    Repetition("▁a", 1),
    tokens=9,
    has_ended=True,
    same_backwards=False,
    stunted=0,
)


def test_numbers_of_sentences_are_those_that_are_measured() -> None:
    assert wording.OTHERS == OTHERS


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (SharedWords(6, 4, 4), "It has 4 of the 6 words that the full model wrote, in the same order."),
        (SharedWords(6, 4, 2), "It has 4 of the 6 words that the full model wrote, 2 in its order."),
        (SharedWords(6, 1, 1), "It has 1 of the 6 words that the full model wrote."),
        (SharedWords(6, 6, 3), "It has all words of the full model, 3 in its order."),
        (SharedWords(6, 0, 0), "It has none of the 6 words that the full model wrote."),
        (SharedWords(0, 0, 0), "There is nothing to compare: the full model wrote no word."),
    ],
)
def test_shared_words_are_told_with_their_order(words: SharedWords, said: str) -> None:
    assert wording.findings(replace(SOUND, words=words), "full") == said


def test_what_is_broken_is_told_and_nothing_else() -> None:
    broken = replace(SOUND, repetition=Repetition("▁Ich", 64), has_ended=False, same_backwards=True, stunted=20)
    said = wording.findings(broken, "full")
    for part in ("“Ich” 64 times in a row", "does not end by itself", "exactly the same", "20 of 20 other sentences"):
        assert part in said
        assert part not in wording.findings(SOUND, "full")


def test_the_reference_is_told_as_such_with_the_same_trials() -> None:
    said = wording.findings(replace(SOUND, output=Output("full", "x", 100.0)), "full")
    assert "compared with it" in said
    assert "writes something else" in said
    assert "all 20 other sentences have at least three" in said


def test_differences_smaller_than_their_spread_are_named() -> None:
    def row(preset: str, difference: tuple[float, float] | None) -> Row:
        return Row(preset, 3, {"dev": SetResult((20, 1), (40, 1), {}, difference)}, None, None)

    rows = [
        row("full", None),
        row("gru", (-0.5, 0.6)),
        row("additive", (-2.0, 0.6)),
        row("post-norm", (0.1, float("nan"))),
    ]
    assert wording.within_spread(rows, "dev") == ("gru",)
    assert wording.within_spread(rows, "other") == ()


def test_a_single_run_has_no_spread() -> None:
    assert wording.spread(20.04, float("nan")) == "20.0"
    assert wording.spread(-2.04, 0.3, is_difference=True) == "−2.0 ± 0.3"
