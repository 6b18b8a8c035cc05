"""Tables and texts that nobody need trust; heads that they name; formulas of a file."""

import copy
import re

import pytest

from model.analysis.word_diff import word_diff
from viz.text import html, messages
from viz.text.html import Column, table, word_changes
from viz.text.messages import said
from viz.text.written import CROSS, ENCODER, NamedHead
from viz.ui.controls import markdown
from viz.ui.formulas import Formula, formulas_in

HOSTILE = "<img src=https://evil.example/a.png> ![x](https://evil.example/b.png) \" onload='x"


def test_a_table_shows_every_text_literally() -> None:
    clean = table([Column("a"), Column("b")], [("c", "d")], label="e")
    hostile = table([Column(HOSTILE), Column(HOSTILE)], [(HOSTILE, HOSTILE)], label=HOSTILE)
    assert hostile.replace("<wbr>", "").count("<") == clean.count("<")
    assert hostile.count('"') == clean.count('"')


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
        ("The idea", "A idea", "-The- +A+ idea"),
    ],
)
def test_words_that_change_stand_between_their_spaces_and_punctuation(first: str, second: str, shown: str) -> None:
    html = word_changes(word_diff(first, second), names=("one", "two")).partition("</p>")[0]
    html = re.sub("<del [^>]*>|</del>", "-", re.sub("<ins [^>]*>|</ins>", "+", html))
    assert re.sub("<p [^>]*>", "", html) == shown


def test_a_row_has_in_bold_what_it_stands_for_and_its_tokens_are_no_html() -> None:
    assert "die → <b>&lt;i&gt;</b>" in html.row_name("die → <i>", writes=True)
    assert "<b>die</b> → &lt;i&gt;" in html.row_name("die → <i>", writes=False)
    assert "<b>" not in html.row_name("animal", writes=False)


def test_a_named_head_is_text_in_texts_and_a_link_in_markdown() -> None:
    head = NamedHead(CROSS, 4, 1)
    assert (str(head), f"{head}", head.link) == ("L5 H2", "L5 H2", "[L5 H2](#head-decoder.cross-L5H2)")
    assert NamedHead(ENCODER, 0, 9, with_site=True).link == "[encoder L1 H10](#head-encoder.self-L1H10)"
    assert copy.deepcopy(head).link == head.link
    # A table links the heads that its cells name, and no others.
    cells = [NamedHead(CROSS, 4, 1), said("{head}: {accuracy}", head=NamedHead(ENCODER, 0, 0), accuracy="<b> L2 H2")]
    made = html.table([html.Column("head"), html.Column("accuracy", is_number=True)], [cells], label="heads")
    assert '<a href="#head-decoder.cross-L5H2">L5 H2</a></th>' in made
    assert '<a href="#head-encoder.self-L1H1">L1 H1</a>: &lt;b&gt; L2 H2' in made
    assert made.count("<a ") == 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_message_as_markdown_links_its_heads_and_shows_other_values_as_they_are(language: str) -> None:
    inner = said("“{token}” in {head}", token="*L5 H2*", head=NamedHead(CROSS, 4, 1, with_site=True))
    with messages.speaking(language):
        shown = markdown(said("Rank by {by}", by=inner))
        assert f"[{messages.shown(NamedHead(CROSS, 4, 1, with_site=True))}](#head-decoder.cross-L5H2)" in shown
    assert "\\*L5 H2\\*" in shown


CONTENT = """## A row

$$
x_i
$$

Its text is broken
over two lines.

##

$$
y
$$

No title.
"""


def test_each_part_has_its_title_its_formula_and_its_text_on_one_line() -> None:
    assert list(formulas_in(CONTENT)) == [
        Formula("A row", "x_i", "Its text is broken over two lines."),
        Formula("", "y", "No title."),
    ]
