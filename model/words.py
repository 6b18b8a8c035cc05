"""Find the tokens that spell a word, and sum attention between tokens to attention between words.

A word is a span [begin, end) of the text, and so is a token (`Tokenizer.offsets`). A token belongs to every word with
which it shares a character, so attached punctuation, byte tokens and tokenized sentences ("it 's a ( small ) test .")
need no special rule.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor

from model.errors import DataError
from model.unspaced import word_starts

Span = tuple[int, int]
"""Characters from begin up to, not including, end."""

QUOTES = {"``": '"', "''": '"', "`": "'"}
"""How tokenized corpora write quotation marks (Penn Treebank) → how the sentence may have them."""


def word_spans(text: str) -> list[Span]:
    """Spans of the words of a text: what white space separates, and in Chinese and Japanese what `unspaced` cuts."""
    return [
        (run.start() + start, run.start() + end)
        for run in re.finditer(r"\S+", text)
        for start, end in pairwise([*sorted(word_starts(run[0])), len(run[0])])
    ]


def find_words(text: str, words: Sequence[str]) -> list[Span]:
    """Spans of these words, with only white space between. Raises a DataError if the text goes on otherwise."""
    spans: list[Span] = []
    position = 0
    for word in words:
        position = next((i for i in range(position, len(text)) if not text[i].isspace()), len(text))
        spelling = next((s for s in (word, QUOTES.get(word, word)) if s and text.startswith(s, position)), None)
        if spelling is None:
            message = "expected the token {word!r} next in the sentence, got {text!r}"
            raise DataError(message, word=word, text=text[position : position + 20])
        spans.append((position, position + len(spelling)))
        position += len(spelling)
    return spans


def pieces_of_spans(offsets: Sequence[Span], spans: Sequence[Span]) -> list[list[int]]:
    """For each span of characters, the positions of the tokens (`offsets`) that share a character with it."""
    return [[i for i, (start, stop) in enumerate(offsets) if start < end and begin < stop] for begin, end in spans]


def pieces_of_words(text: str, offsets: Sequence[Span]) -> list[list[int]]:
    """For each word that white space separates, the positions of its tokens."""
    return pieces_of_spans(offsets, word_spans(text))


def attention_between_words(
    weights: Float[Tensor, "*batch query key"], query_words: Sequence[Sequence[int]], key_words: Sequence[Sequence[int]]
) -> Float[Tensor, "*batch query_word key_word"]:
    """Attention from words to words: the mean over a query word's rows of the sum over a key word's columns.

    As in Clark et al. 2019, §4.1: attention *to* a split word adds up, attention *from* it is averaged. Words without
    tokens give zeros. `query_words` and `key_words` are the positions of each word's rows or columns.
    """
    totals = _summed(weights, key_words, -1)
    counts = torch.tensor([max(1, len(word)) for word in query_words], dtype=totals.dtype)
    return _summed(totals, query_words, -2) / counts[:, None]


def _summed(values: Tensor, words: Sequence[Sequence[int]], dimension: int) -> Tensor:
    """For each word, the sum of its positions along a dimension."""
    positions = torch.tensor([position for word in words for position in word], dtype=torch.long)
    owners = torch.tensor([i for i, word in enumerate(words) for _ in word], dtype=torch.long)
    shape = list(values.shape)
    shape[dimension] = len(words)
    return values.new_zeros(shape).index_add_(dimension, owners, values.index_select(dimension, positions))


def with_mean_of_heads(weights: Float[Tensor, "head query key"]) -> Float[Tensor, "head_or_mean query key"]:
    """The heads of a layer, and after the last of them their mean."""
    return torch.cat((weights, weights.mean(dim=0, keepdim=True)))
