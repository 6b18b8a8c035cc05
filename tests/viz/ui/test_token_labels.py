"""Which token a page begins with, and how rows of a decoder are named."""

from model import Translator
from viz.ui.token_labels import default_row, first_of, row_labels


def test_it_is_found_as_a_whole_word_and_before_other_pronouns() -> None:
    assert first_of(("▁He", "▁sits", "it", "▁it"), (("it",), ("he",))) == 3
    assert first_of(("▁He", "▁sits"), (("it",), ("he",))) == 0
    assert first_of(("▁sits",), (("it",), ("he",))) is None


def test_a_word_may_be_split_from_its_beginning_but_must_end() -> None:
    assert first_of(("▁", "it", "▁is"), (("it",),)) == 1
    assert first_of(("▁er", "lebt", "▁er", "."), (("er",),)) == 2


def test_rows_of_the_decoder_are_named_by_what_they_read_and_write(translator: Translator) -> None:
    trace = translator.trace("The dog was tired.", "Der Hund war müde.")
    labels = row_labels(trace, "decoder.cross")
    assert len(labels) == len(trace.target_tokens)
    assert labels[0].startswith("1 · <s> → ")
    assert row_labels(trace, "encoder.self")[-1].endswith("· </s>")


def test_a_sentence_without_a_pronoun_begins_with_its_first_token(translator: Translator) -> None:
    trace = translator.trace("Tom sleeps.", "Tom.")
    assert default_row(trace, "encoder.self") == 0
