"""Tables of text that nobody need trust."""

import re

import pytest

from model.analysis.word_diff import word_diff
from viz.text.html import Column, literal, table, word_changes

HOSTILE = "<img src=https://evil.example/a.png> ![x](https://evil.example/b.png) \" onload='x"


def test_a_table_shows_every_text_literally() -> None:
    clean = table([Column("a"), Column("b")], [("c", "d")], label="e")
    hostile = table([Column(HOSTILE), Column(HOSTILE)], [(HOSTILE, HOSTILE)], label=HOSTILE)
    assert hostile.replace("<wbr>", "").count("<") == clean.count("<")
    assert hostile.count('"') == clean.count('"')


def test_a_narrow_table_breaks_titles_and_long_names_but_no_number_and_no_short_name() -> None:
    columns = [Column("Set"), Column("Description"), Column("Right, of all of them", is_number=True)]
    html = table(columns, [("L2 H1", "d_model, made_by/some_hand", "48.4% (43.5 to 53.2)")], label="a")
    titles, row = html.split("</thead>")
    assert titles.count("white-space:normal") == len(columns)
    name, text, number = row.split('dir="auto"')[1:]
    assert "white-space:nowrap" in name
    assert "d_model, made_<wbr>by/<wbr>some_<wbr>hand" in text
    assert "white-space:nowrap" not in text
    assert re.findall(r"nowrap\">([^<]*)</span>", number) == ["48.4%", "(43.5 to 53.2)"]


def test_control_characters_are_shown_as_signs() -> None:
    assert literal("a\x00b\n") == "a␀b␊"


def test_a_row_of_another_length_is_a_programmers_mistake() -> None:
    with pytest.raises(AssertionError):
        table([Column("a")], [("b", "c")], label="d")


def test_changes_of_words_are_marked_in_html_in_which_nothing_is_html() -> None:
    html = word_changes(word_diff("a <img/src=x> d", "a b d c"), names=("<b>", "two"))
    assert "<img" not in html
    assert html.count("</del>") == 2  # one in the text, one in the key
    assert html.count("</ins>") == 3
    assert ">a <del" in html
    assert 'lang=""' in html


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("die Straße nicht, weil", "die Straße, weil", "die Straße -nicht-, weil"),
        ("eine (nicht gute) Idee", "eine (gute) Idee", "eine (-nicht- gute) Idee"),
        ("ein „Hund“.", "ein „Tier“!", "ein „-Hund- +Tier+“-.-+!+"),
        ("Es geht.", "Es geht heute.", "Es geht +heute+."),
    ],
)
def test_words_that_change_stand_between_their_spaces_and_punctuation(first: str, second: str, shown: str) -> None:
    html = word_changes(word_diff(first, second), names=("one", "two")).partition("</p>")[0]
    html = re.sub("<del [^>]*>|</del>", "-", re.sub("<ins [^>]*>|</ins>", "+", html))
    assert re.sub("<p [^>]*>", "", html) == shown
