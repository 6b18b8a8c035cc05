"""Words that another text lacks are marked."""

from re import sub

import pytest

from model.analysis.word_diff import word_diff
from viz.ui import word_differences


def test_words_that_the_other_text_lacks_are_marked_and_gaps_are_shown() -> None:
    assert word_differences.pieces(word_diff("a b c d", "a x c")) == (
        (" a", False),
        (" x", True),
        (" c", False),
        (f" {word_differences.MISSING}", True),
    )
    assert word_differences.pieces(word_diff("a b", "a b")) == ((" a b", False),)
    assert word_differences.pieces(word_diff("", "")) == ()


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("die Straße nicht, weil", "die Straße, weil", "die Straße [∅], weil"),
        ("Nein, das ist gut.", "Das ist gut.", "[Das] ist gut."),
        ("Straße, weil", "Straße weil", "Straße[∅] weil"),
        ("eine (nicht gute) Idee", "eine (gute) Idee", "eine ([∅] gute) Idee"),
        ("„Das geht.“", "Das geht.", "[∅] Das geht.[∅]"),
        ("Es geht!", "Es geht.", "Es geht[.]"),
        ("Es geht.", "Es geht heute.", "Es geht [heute]."),
        ("Das geht.", "„Das geht.“", "[„]Das geht.[“]"),
    ],
)
def test_a_mark_stands_where_the_words_differ_whatever_punctuation_is_beside_them(
    first: str, second: str, shown: str
) -> None:
    html = word_differences.marked(word_diff(first, second)).html()
    assert sub("</mark>", "]", sub("<mark [^>]*>", "[", html)) == shown


def test_marked_text_shows_html_as_it_is() -> None:
    html = word_differences.marked(word_diff("a", "a <b>x</b>")).html()
    assert html.startswith("a <mark ")
    assert "&lt;b&gt;x&lt;/b&gt;</mark>" in html
    assert "<b>" not in html
