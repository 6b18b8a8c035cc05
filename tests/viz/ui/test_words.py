"""The words in the head of a page: which of them a person can have chosen, and which text they are of."""

from types import SimpleNamespace
from typing import Any

import pytest

from viz.access import texts
from viz.pictures.matrix_picture.component import Kept, choices
from viz.selection import state
from viz.ui import sentence, words
from viz.ui.sentence import Line
from viz.ui.words import NOTHING, Chosen


@pytest.mark.parametrize(
    ("chosen", "exist"),
    [
        (((0,), ()), True), (((2,), (1,)), True), (((0, 1), (3, 2)), True), (((4,), ()), False), (((0,), (4,)), False),
        (((), (0,)), False), (((1, 2), ()), False), (((0,), (1, 2)), False),
    ],
)  # fmt: skip
def test_words_are_chosen_if_the_text_has_them_and_those_of_a_side_are_of_one_text(
    chosen: Chosen, exist: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = texts.Words(("The", "dog", "Der", "Hund"), ((0,), (1,), (1,), (2,)), num_source=2)
    attention = SimpleNamespace(from_words=chosen[0], to_words=chosen[1])
    monkeypatch.setattr(texts, "words", lambda trace: known)
    monkeypatch.setattr(state, "current", lambda: SimpleNamespace(attention=attention))
    trace: Any = None
    assert words.chosen_in(trace) == (chosen if exist else NOTHING)


def test_what_is_kept_has_one_colour_in_words_and_in_pictures() -> None:
    assert choices(Kept())["kept_colour"] == words.Words([], NOTHING).kept_colour


@pytest.mark.parametrize(
    ("groups", "written", "lines"),
    [
        (((1,), (2,), (3, 4)), "wrote", [("Given", "text"), ("wrote",)]),
        (((1,), (2, 3), (4,)), "wrote", []),
        (((1,), (2,), (3, 4)), "", [("Given", "text", "wrote")]),
        (((1,), (2,), (3, 4)), "wrote it", [("Given", "text"), ("wrote",)]),
    ],
)
def test_what_a_model_writes_on_is_a_line_of_its_own_unless_a_word_goes_on_in_it(
    groups: tuple[tuple[int, ...], ...], written: str, lines: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = texts.Words(("given", "text", "wrote"), groups, num_source=0)
    shown = [Line("TEXT", "", "Given text" if written else "Given text wrote", texts.RareWords({"text": 5}))]
    shown += [Line("WRITTEN", "", written)] if written else []
    monkeypatch.setattr(texts, "words", lambda trace: known)
    monkeypatch.setattr(sentence, "lines_of", lambda trace: shown)
    trace: Any = SimpleNamespace(rows_before=2, roles=())
    made = words.word_lines(trace)
    assert [line.words for line in made] == lines
    assert [group for line in made for group in line.axis.groups or ()] == list(groups if made else ())
    # Each word has the pieces that it is broken into, if it is rare.
    assert not made or made[0].pieces[:2] == (0, 5)
    for most, are_shown in ((3, bool(lines)), (2, False)):
        monkeypatch.setattr(words, "MAX_WORDS", most)
        assert bool(words.word_lines(trace)) == are_shown
