"""Which token a page begins with, and how rows of a decoder are named."""

import pytest

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


@pytest.mark.parametrize(
    ("languages", "words"),
    [
        (("en", "de"), ("it", "es")),
        (("", "de"), ("it", "es")),
        # In Spanish "es" is no pronoun, and in German "it" is none.
        (("en", "es"), ("it", "")),
        (("de-AT", ""), ("", "")),
        (("de", "en-GB"), ("", "")),
    ],
)
def test_a_page_begins_with_a_pronoun_of_the_language_or_else_with_the_first_token(
    translator: Translator, languages: tuple[str, str], words: tuple[str, str]
) -> None:
    trace = translator.trace("Tom saw it.", "Tom es.")
    read, written = trace.source_tokens, [step.token for step in trace.steps]
    for site, tokens, word in zip(("encoder.self", "decoder.cross"), (read, written), words, strict=True):
        row = default_row(trace, site, languages)
        assert tokens[row].removeprefix("▁") == word if word else row == 0
    assert default_row(translator.trace("Tom sleeps.", "Tom."), "encoder.self", languages) == 0
