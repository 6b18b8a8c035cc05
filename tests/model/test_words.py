"""Words and pieces are joined by characters, whatever the pieces look like."""

import pytest
import torch

from model.errors import DataError
from model.tokenizer import Tokenizer
from model.words import (
    attention_between_words,
    find_words,
    pieces_of_spans,
    pieces_of_words,
    with_mean_of_heads,
    word_spans,
)
from tests.conftest import SENTENCES


def spelled(tokenizer: Tokenizer, text: str) -> list[str]:
    """The text of each word's pieces."""
    token_ids = tokenizer.encode(text)
    words = pieces_of_words(text, tokenizer.offsets(text))
    return [tokenizer.decode([token_ids[i] for i in pieces]) for pieces in words]


@pytest.mark.parametrize(
    "text",
    [*SENTENCES[:8], "it 's a ( small ) test .", "a 🦊 in 汉字 and (🦊🦊)!", '  " two "  words  ', "don't   stop"],
)
def test_the_pieces_of_each_word_spell_it(tokenizer: Tokenizer, text: str) -> None:
    assert spelled(tokenizer, text) == text.split()


def test_every_piece_belongs_to_one_word(tokenizer: Tokenizer) -> None:
    text = "it 's a ( small ) 🦊 test ."
    words = pieces_of_words(text, tokenizer.offsets(text))
    assert [piece for word in words for piece in word] == list(range(len(tokenizer.encode(text))))


def test_a_word_that_is_normalized_keeps_its_pieces(tokenizer: Tokenizer) -> None:
    assert spelled(tokenizer, "ﬁne ½ ①") == ["fine", "1⁄2", "1"]
    assert [bool(pieces) for pieces in pieces_of_words("a \u200b b", tokenizer.offsets("a \u200b b"))][::2] == [
        True
    ] * 2


def test_a_span_of_characters_has_the_pieces_it_touches() -> None:
    offsets = [(0, 3), (4, 5), (5, 9)]
    assert pieces_of_spans(offsets, [(0, 3), (3, 4), (4, 9), (8, 20), (2, 5), (3, 3)]) == [
        [0],
        [],
        [1, 2],
        [2],
        [0, 1],
        [],
    ]


def test_spans_of_words_are_what_white_space_separates() -> None:
    assert word_spans("  a bc\u00a0d ") == [(2, 3), (4, 6), (7, 8)]
    assert word_spans("") == []


def test_tokens_are_found_in_their_sentence() -> None:
    text = 'She said: "It isn\'t."'
    tokens = ["She", "said", ":", "``", "It", "is", "n't", ".", "''"]
    assert [text[slice(*span)] for span in find_words(text, tokens)] == [
        "She", "said", ":", '"', "It", "is", "n't", ".", '"'
    ]  # fmt: skip


@pytest.mark.parametrize("tokens", [["a", "c"], ["a", "b", "c"], ["b"], ["a", ""]])
def test_tokens_of_another_sentence_are_said(tokens: list[str]) -> None:
    with pytest.raises(DataError, match="expected the token"):
        find_words("a b", tokens)


def test_attention_to_a_split_word_adds_up_and_from_it_is_averaged() -> None:
    weights = torch.tensor([[[0.1, 0.2, 0.7], [0.3, 0.4, 0.3], [0.5, 0.5, 0.0]]])
    between = attention_between_words(weights, [[0, 1], [2], []], [[0], [1, 2], []])
    torch.testing.assert_close(between, torch.tensor([[[0.2, 0.8, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]]))


def test_the_mean_of_heads_comes_last() -> None:
    weights = torch.rand(3, 4, 5)
    torch.testing.assert_close(with_mean_of_heads(weights)[-1], weights.mean(0))
    torch.testing.assert_close(with_mean_of_heads(weights)[:-1], weights)
