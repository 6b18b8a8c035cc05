"""Text of people on the page: shown as typed, never read as HTML; what differs is marked; where a page begins."""

from re import sub
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from model import Translator
from model.analysis.word_diff import word_diff
from viz.access.texts import RareWords
from viz.selection import state
from viz.selection.selection import Selection
from viz.ui import sentence, token_labels
from viz.ui.sentence import MAX_SHOWN, Line, lines_html
from viz.ui.token_labels import default_row, first_of
from viz.ui.words import NOTHING, Chosen, chosen_in

HOSTILE = [
    "<img src=https://evil.example/a.png>",
    "</span></div><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "&lt;b&gt;",
]


def both(source: str, translation: str) -> str:
    return lines_html([Line("EN", "en", source), Line("DE", "de", translation)])


@pytest.mark.parametrize("text", HOSTILE)
def test_a_sentence_cannot_leave_its_line(text: str) -> None:
    html = both(text, text)
    assert html.count("<") == both("a", "b").count("<")
    assert html.count('"') == both("a", "b").count('"')


def test_a_line_has_its_language_and_direction_and_its_text_is_shown_whole_and_visible() -> None:
    html = both("שלום", "Hallo")
    assert html.count('dir="auto"') == 2
    assert 'lang="en"' in html
    assert 'lang="de"' in html
    html = both("a\x00b\nc", "d")
    assert "a␀b c" in html
    assert "👩‍👧" in both("👩‍👧", "x")
    assert "x" * MAX_SHOWN + " …" in both("x" * (MAX_SHOWN + 1), "y")
    assert "…" not in both("x" * MAX_SHOWN, "y")


def test_a_rare_word_is_underlined_and_its_text_cannot_leave_it() -> None:
    word = "<b>qz</b>"
    html = lines_html([Line("EN", "en", f"A {word} sleeps.", RareWords({word: 9}))])
    assert 'title="9 tokens">&lt;b&gt;' in html
    assert html.count("<mark ") == 1
    assert "<b>" not in html
    # Of a part of the line, the part of the word that is in it.
    line = Line("EN", "en", "A qzxv sleeps.", RareWords({"qzxv": 9}))
    for begin, end, shown in ((0, None, "A [qzxv] sleeps."), (3, 5, "[zx]"), (0, 3, "A [q]"), (5, None, "[v] sleeps.")):
        html = sentence.with_rare_words(line, begin, end)
        assert sub("</mark>", "]", sub("<mark [^>]*>", "[", html)) == shown


@pytest.mark.parametrize(
    ("text", "are_most", "says"),
    [
        ("THE ANIMAL WAS TIRED.", True, ["does not know most of these words"]),
        ("A qzxv sleeps.", False, ["Dotted words are rare"]),
        ("那只动物没有过马路，因为它太累了。", True, ["This looks like Chinese"]),
    ],
)
def test_a_text_of_rare_words_is_never_read_without_a_word_of_warning(
    text: str, are_most: bool, says: list[str]
) -> None:
    cautions = sentence.cautions(Line("EN", "en", text, RareWords({"x": 5}, are_most)))
    assert [any(part in caution for part in says) for caution in cautions] == [True]


def test_words_that_the_other_text_lacks_are_marked_and_gaps_are_shown() -> None:
    assert token_labels.pieces(word_diff("a b c d", "a x c")) == (
        (" a", False),
        (" x", True),
        (" c", False),
        (f" {token_labels.MISSING}", True),
    )
    assert token_labels.pieces(word_diff("a b", "a b")) == ((" a b", False),)
    assert token_labels.pieces(word_diff("", "")) == ()
    # Marked text shows HTML as it is.
    html = token_labels.marked(word_diff("a", "a <b>x</b>")).html()
    assert html.startswith("a <mark ")
    assert "&lt;b&gt;x&lt;/b&gt;</mark>" in html
    assert "<b>" not in html


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("die Straße nicht, weil", "die Straße, weil", "die Straße [∅], weil"),
        ("Nein, das ist gut.", "Das ist gut.", "[Das] ist gut."),
        ("Straße, weil", "Straße weil", "Straße[∅] weil"),
        ("eine (nicht gute) Idee", "eine (gute) Idee", "eine ([∅] gute) Idee"),
        ("„Das geht.“", "Das geht.", "[∅] Das geht.[∅]"),
        ("Es geht!", "Es geht.", "Es geht[.]"),
    ],
)
def test_a_mark_stands_where_the_words_differ_whatever_punctuation_is_beside_them(
    first: str, second: str, shown: str
) -> None:
    html = token_labels.marked(word_diff(first, second)).html()
    assert sub("</mark>", "]", sub("<mark [^>]*>", "[", html)) == shown


@pytest.mark.parametrize(
    ("chosen", "exist"),
    [
        (((0,), ()), True), (((5,), (1,)), True), (((0, 1), (5, 4)), True), (((8,), ()), False), (((0,), (8,)), False),
        (((), (0,)), False), (((3, 4), ()), False), (((0,), (3, 4)), False),
    ],
)  # fmt: skip
def test_words_are_chosen_if_the_text_has_them_and_those_of_a_side_are_of_one_text(
    chosen: Chosen, exist: bool, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "session_state", {})
    state.put(Selection().changed(from_words=chosen[0], to_words=chosen[1]))
    trace = translator.trace("The dog was tired.", "Der Hund war müde.")
    assert chosen_in(trace) == (chosen if exist else NOTHING)


def test_it_is_found_as_a_whole_word_split_or_not_and_before_other_pronouns() -> None:
    assert first_of(("▁He", "▁sits", "it", "▁it"), (("it",), ("he",))) == 3
    assert first_of(("▁He", "▁sits"), (("it",), ("he",))) == 0
    assert first_of(("▁sits",), (("it",), ("he",))) is None
    assert first_of(("▁", "it", "▁is"), (("it",),)) == 1
    assert first_of(("▁er", "lebt", "▁er", "."), (("er",),)) == 2
    assert first_of(("▁it", "s.", "▁it"), (("it",),)) == 2
    # Nothing stands before the first, whatever is last.
    assert first_of(("it", "▁is", "▁"), (("it",),)) is None


@pytest.mark.parametrize(
    ("languages", "words"),
    [
        (("en", "de"), ("it", "es")),
        (("", "de"), ("it", "es")),
        # In Spanish "es" is no pronoun, and in German "it" is none.
        (("en", "es"), ("it", "")),
        (("de-AT", ""), ("", "")),
        (("de", "en-GB"), ("", "")),
    ],
)
def test_a_page_begins_with_a_pronoun_of_the_language_or_else_with_the_first_token(
    translator: Translator, languages: tuple[str, str], words: tuple[str, str]
) -> None:
    trace = translator.trace("Tom saw it.", "Tom es.")
    read, written = trace.source_tokens, [step.token for step in trace.steps]
    for site, tokens, word in zip(("encoder.self", "decoder.cross"), (read, written), words, strict=True):
        row = default_row(trace, site, languages)
        assert tokens[row].removeprefix("▁") == word if word else row == 0
    assert default_row(translator.trace("Tom sleeps.", "Tom."), "encoder.self", languages) == 0
    # A decoder alone: the first token sees nothing but itself, so the last is the one to begin with.
    tokens = ("▁Tom", "▁saw", "▁it", "▁run")
    for number, row in ((4, 2), (2, 1)):
        alone: Any = SimpleNamespace(sites=("decoder.self",), target_tokens=tokens[:number])
        assert default_row(alone, "decoder.self", ("en", "")) == row
