"""Text of people on the page: shown as typed, never read as HTML or Markdown."""

import pytest

from model import Translator
from viz.ui.controls import plain
from viz.ui.sentence import MAX_SHOWN, Line, lines_html
from viz.ui.token_labels import default_row, first_of, row_labels

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


def test_each_line_takes_its_own_writing_direction_and_names_its_language() -> None:
    html = both("שלום", "Hallo")
    assert html.count('dir="auto"') == 2
    assert 'lang="en"' in html
    assert 'lang="de"' in html


def test_control_characters_are_made_visible_and_line_breaks_become_spaces() -> None:
    html = both("a\x00b\nc", "d")
    assert "a␀b c" in html


def test_a_joined_emoji_stays_whole() -> None:
    assert "👩‍👧" in both("👩‍👧", "x")


def test_a_very_long_text_is_cut_visibly() -> None:
    assert "x" * MAX_SHOWN + " …" in both("x" * 10_000, "y")


@pytest.mark.parametrize("text", ["![x](https://evil.example/a.png)", "**b**", ":red[x]", "$x$", "`x`", "# x", "<b>"])
def test_plain_text_holds_no_unescaped_markdown(text: str) -> None:
    escaped = plain(text)
    assert escaped.replace("\\", "") == text
    for i, character in enumerate(escaped):
        if character != "\\" and character.isascii() and not character.isalnum() and character != " ":
            assert escaped[i - 1] == "\\"


def test_letters_of_any_script_stay_as_they_are() -> None:
    assert plain("Grüße שלום 你好 x1") == "Grüße שלום 你好 x1"


# ---- which token a comparison begins with ----


def test_it_is_found_as_a_whole_word_and_before_other_pronouns() -> None:
    assert first_of(("▁He", "▁sits", "it", "▁it"), (("it",), ("he",))) == 3
    assert first_of(("▁He", "▁sits"), (("it",), ("he",))) == 0
    assert first_of(("▁sits",), (("it",), ("he",))) is None


def test_a_word_may_be_split_from_its_beginning_but_must_end() -> None:
    assert first_of(("▁", "it", "▁is"), (("it",),)) == 1
    assert first_of(("▁er", "lebt", "▁er", "."), (("er",),)) == 2


def test_rows_of_the_decoder_are_named_by_what_they_read_and_write(translator: Translator) -> None:
    trace = translator.trace("The dog was tired.", "Der Hund war müde.")
    labels = row_labels(trace, "decoder.cross")
    assert len(labels) == len(trace.target_tokens)
    assert labels[0].startswith("1 · <s> → ")
    assert row_labels(trace, "encoder.self")[-1].endswith("· </s>")


def test_a_sentence_without_a_pronoun_begins_with_its_first_token(translator: Translator) -> None:
    trace = translator.trace("Tom sleeps.", "Tom.")
    assert default_row(trace, "encoder.self") == 0
