"""Text of people on the page: shown as typed, never read as HTML."""

import pytest

from viz.access.texts import RareWords
from viz.ui import sentence
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
    html = lines_html([Line("EN", "en", f"A {word} sleeps.", RareWords({word: 9}))])
    assert 'title="9 tokens">&lt;b&gt;' in html
    assert html.count("<mark ") == 1
    assert "<b>" not in html


def test_a_joined_emoji_stays_whole() -> None:
    assert "👩‍👧" in both("👩‍👧", "x")


def test_a_very_long_text_is_cut_visibly() -> None:
    assert "x" * MAX_SHOWN + " …" in both("x" * 10_000, "y")


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
