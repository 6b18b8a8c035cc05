"""A sentence with its marks, never read as HTML."""

from viz.access.texts import RareWords
from viz.pages.coreference.marked_sentence import marked_line
from viz.ui.sentence import Line


def test_marked_text_is_never_read_as_html() -> None:
    text = "<b>it</b> & <img src=x>"
    shown = marked_line(Line("EN", "en", text), {"pronoun": (3, 5), "antecedent": (4, 8)}, "<i>es</i>")
    assert "<b>" not in shown
    assert "<img" not in shown
    assert "&lt;b&gt;<mark" in shown
    assert "&lt;i&gt;es" in shown
    assert shown.count("<mark") == 1  # marks that overlap: the first one stands


def test_a_long_sentence_is_cut_after_its_last_mark() -> None:
    text = "word " * 200 + "it " + "more " * 50
    shown = marked_line(Line("EN", "en", text), {"pronoun": (1000, 1002)}, "")
    assert ">it</mark> …</span>" in shown


def test_a_rare_word_is_underlined_inside_a_mark_too() -> None:
    source = Line("EN", "en", "The qzxv (Brzk) sat.", RareWords({"qzxv": 4, "(Brzk)": 6}))
    shown = marked_line(source, {"antecedent": (10, 14)}, "")
    assert 'title="4 tokens">qzxv</mark>' in shown
    assert 'title="6 tokens">(</mark><mark title="antecedent"' in shown
    assert 'title="6 tokens">Brzk</mark></mark>' in shown
