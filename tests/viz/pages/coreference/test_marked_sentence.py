"""A sentence with its marks, never read as HTML."""

from viz.pages.coreference.marked_sentence import marked_sentence


def test_marked_text_is_never_read_as_html() -> None:
    text = "<b>it</b> & <img src=x>"
    shown = marked_sentence(text, {"pronoun": (3, 5), "antecedent": (4, 8)}, "<i>es</i>", (3, 5))
    assert "<b>" not in shown
    assert "<img" not in shown
    assert "&lt;b&gt;<mark" in shown
    assert "&lt;i&gt;<mark" in shown
    assert shown.count("<mark") == 2  # marks that overlap: the first one stands


def test_a_long_sentence_is_cut_after_its_last_mark() -> None:
    text = "word " * 200 + "it " + "more " * 50
    shown = marked_sentence(text, {"pronoun": (1000, 1002)}, "es", None)
    assert ">it</mark> …</span>" in shown
