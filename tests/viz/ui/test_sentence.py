"""Text of people on the page: shown as typed, never read as HTML."""

import pytest

from viz.ui.sentence import MAX_SHOWN, Line, lines_html

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


def test_a_rare_word_is_underlined_and_its_text_cannot_leave_it() -> None:
    word = "<b>qz</b>"
    html = lines_html([Line("EN", "en", f"A {word} sleeps.", {word: 9})])
    assert 'title="9 pieces">&lt;b&gt;' in html
    assert html.count("<mark ") == 1
    assert "<b>" not in html


def test_a_joined_emoji_stays_whole() -> None:
    assert "👩‍👧" in both("👩‍👧", "x")


def test_a_very_long_text_is_cut_visibly() -> None:
    assert "x" * MAX_SHOWN + " …" in both("x" * 10_000, "y")
