"""Rows and columns as every picture knows them: by tokens of one side."""

from viz.pictures.focus import FocusAxis, FocusHead, head
from viz.text.sites import CROSS, DECODER, ENCODER

SINGLE = ((0,), (1,), (2,))
WORDS = ((1,), (2, 3))


def test_single_tokens_need_no_list_and_words_name_theirs() -> None:
    assert head("L1 H1", ENCODER, SINGLE, SINGLE) == FocusHead(
        ENCODER, "L1 H1", FocusAxis("source"), FocusAxis("source")
    )
    rows, columns = head("L1 H1", DECODER, WORDS, SINGLE).rows, head("L1 H1", DECODER, WORDS, SINGLE).columns
    assert (rows, columns) == (FocusAxis("target", groups=WORDS), FocusAxis("target"))


def test_a_row_of_cross_attention_stands_for_what_it_writes() -> None:
    known = head("L1 H1", CROSS, SINGLE, SINGLE)
    assert (known.rows, known.columns) == (FocusAxis("target", ahead=1), FocusAxis("source"))
    # The row of the word at 2 and 3 writes the token after it.
    assert head("L1 H1", CROSS, WORDS, SINGLE).rows.groups == [[2], [4]]
