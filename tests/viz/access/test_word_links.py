"""Which rows and keys of each attention join two words."""

import numpy as np
import pytest

from model import Translator
from model.trace.trace import Trace
from viz.access import word_links
from viz.access.word_links import Link
from viz.text.sites import CROSS, DECODER, ENCODER


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace("The dog was tired.", "Der Hund war müde.")


def word(trace: Trace, label: str) -> int:
    return word_links.words(trace).labels.index(label)


def spelled(tokens: tuple[str, ...], positions: tuple[int, ...]) -> str:
    return "".join(tokens[position] for position in positions).removeprefix("▁")


def test_words_are_those_of_both_sentences_without_special_tokens(trace: Trace) -> None:
    known = word_links.words(trace)
    assert known.labels == ("The", "dog", "was", "tired.", "Der", "Hund", "war", "müde.")
    assert known.num_source == 4
    sides = [trace.source_tokens] * 4 + [trace.target_tokens] * 4
    assert [spelled(*of) for of in zip(sides, known.groups, strict=True)] == list(known.labels)


def test_a_written_word_looks_from_the_rows_that_wrote_it_and_again_from_those_that_read_it(trace: Trace) -> None:
    known, hund, dog = word_links.words(trace), word(trace, "Hund"), word(trace, "dog")
    wrote, read = word_links.links(trace, (hund,), (dog,))
    assert (wrote.site, wrote.keys, wrote.is_second_look) == (CROSS, known.groups[dog], False)
    assert "".join(trace.steps[row].token for row in wrote.rows).removeprefix("▁") == "Hund"
    assert read == Link(CROSS, (known.groups[hund],), known.groups[dog], is_second_look=True)
    assert {link.site for link in word_links.links(trace, (hund,), (word(trace, "Der"),))} == {DECODER}


def test_words_of_the_text_meet_in_the_encoder_and_never_look_at_the_translation(trace: Trace) -> None:
    known, was, dog = word_links.words(trace), word(trace, "was"), word(trace, "dog")
    assert word_links.links(trace, (was,), (dog,)) == (Link(ENCODER, (known.groups[was],), known.groups[dog]),)
    assert word_links.links(trace, (dog,), (word(trace, "Hund"),)) == ()


def test_of_pieces_keys_are_summed_and_queries_averaged(trace: Trace) -> None:
    (link,) = word_links.links(trace, (word(trace, "tired."),), (word(trace, "dog"),))
    assert min(len(link.rows), len(link.keys)) > 1
    expected = [
        [trace.weights(ENCODER, layer)[head][list(link.rows)][:, list(link.keys)].numpy().sum(1).mean() for head in of]
        for layer, of in enumerate([range(trace.heads_of(ENCODER))] * trace.layers_of(ENCODER))
    ]
    np.testing.assert_allclose(word_links.weights(trace, link), expected, rtol=1e-5)


def test_the_weights_of_several_words_are_summed(trace: Trace) -> None:
    looking, looked_at = [word(trace, label) for label in ("was", "tired.")], [word(trace, "The"), word(trace, "dog")]
    (together,) = word_links.links(trace, looking, looked_at)
    apart = [word_links.links(trace, (row,), (key,))[0] for row in looking for key in looked_at]
    sums = sum(word_links.weights(trace, link) for link in apart)
    np.testing.assert_allclose(word_links.weights(trace, together), sums, rtol=1e-5)


def test_a_cell_belongs_to_the_word_that_its_row_writes(trace: Trace) -> None:
    dog = word(trace, "dog")
    for written in (word(trace, label) for label in ("Der", "Hund", "war", "müde.")):
        link, *_ = word_links.links(trace, (written,), (dog,))
        for row in link.rows:
            assert word_links.words_of_cell(trace, CROSS, row, link.keys[-1]) == (written, dog)
    assert word_links.words_of_cell(trace, ENCODER, len(trace.source_tokens) - 1, 0)[0] is None
