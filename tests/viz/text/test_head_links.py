"""A head that a text or a table names is a link to it, because whoever names it says which head it is."""

import copy

import pytest

from viz.text import html, messages
from viz.text.head_links import NamedHead
from viz.text.messages import said
from viz.text.sites import CROSS, ENCODER
from viz.ui.controls import markdown


def test_a_named_head_is_text_in_texts_and_a_link_in_markdown() -> None:
    head = NamedHead(CROSS, 4, 1)
    assert (str(head), f"{head}", head.link) == ("L5 H2", "L5 H2", "[L5 H2](#head-decoder.cross-L5H2)")
    assert NamedHead(ENCODER, 0, 9, with_site=True).link == "[encoder L1 H10](#head-encoder.self-L1H10)"
    assert copy.deepcopy(head).link == head.link


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_message_as_markdown_links_its_heads_and_shows_other_values_as_they_are(language: str) -> None:
    inner = said("“{token}” in {head}", token="*L5 H2*", head=NamedHead(CROSS, 4, 1, with_site=True))
    with messages.speaking(language):
        shown = markdown(said("Rank by {by}", by=inner))
        assert f"[{messages.shown(NamedHead(CROSS, 4, 1, with_site=True))}](#head-decoder.cross-L5H2)" in shown
    assert "\\*L5 H2\\*" in shown


def test_a_table_links_the_heads_that_its_cells_name_and_no_others() -> None:
    cells = [NamedHead(CROSS, 4, 1), said("{head}: {accuracy}", head=NamedHead(ENCODER, 0, 0), accuracy="<b> L2 H2")]
    made = html.table([html.Column("head"), html.Column("accuracy", is_number=True)], [cells], label="heads")
    assert '<a href="#head-decoder.cross-L5H2">L5 H2</a></th>' in made
    assert '<a href="#head-encoder.self-L1H1">L1 H1</a>: &lt;b&gt; L2 H2' in made
    assert made.count("<a ") == 2
