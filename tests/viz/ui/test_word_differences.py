"""Words that another text lacks are marked."""

from model.analysis.word_diff import word_diff
from viz.ui import word_differences


def test_words_that_the_other_text_lacks_are_marked_and_gaps_are_shown() -> None:
    assert word_differences.pieces(word_diff("a b c d", "a x c")) == (
        ("a", False),
        ("x", True),
        ("c", False),
        (word_differences.MISSING, True),
    )
    assert word_differences.pieces(word_diff("a b", "a b")) == (("a b", False),)
    assert word_differences.pieces(word_diff("", "")) == ()


def test_marked_text_shows_html_as_it_is() -> None:
    html = word_differences.marked(word_diff("a", "a <b>x</b>")).html()
    assert html.startswith("a <mark ")
    assert "&lt;b&gt;x&lt;/b&gt;</mark>" in html
    assert "<b>" not in html
