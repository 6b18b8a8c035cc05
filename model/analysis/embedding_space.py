"""Neighbours in an embedding matrix (§3.4: one for source, target and output, where it is shared).

Cosines, as Mikolov et al. 2013 ("Linguistic Regularities in Continuous Space Word Representations") compare word
vectors.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.adapters.placement import weight_of
from model.errors import TraceError
from model.reader import Reader
from model.sequence_translator import SequenceTranslator
from model.tokenizer import Tokenizer
from model.training.pronouns import written_pairs


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A token and the cosine of its embedding with the one that was asked about."""

    token_id: int
    token: str
    cosine: float


@dataclass(frozen=True, eq=False)
class EmbeddingSpace:
    """The embeddings of a vocabulary, each divided by its length. float32 on the CPU."""

    tokens: tuple[str, ...]  #: in the order of their ids
    directions: Float[Tensor, "vocab d_model"]  #: one row a token; zero for an embedding of no length
    lengths: Float[Tensor, "vocab"]  #: of the embeddings
    left_out: frozenset[int]  #: ids that are nobody's neighbour: special tokens, which stand for no text

    def find(self, word: str) -> int | None:
        """The id of the one piece that is this word, which begins a word if there is such a piece; None if none is."""
        for spelled in (f"▁{word}", word):
            if spelled in self.tokens:
                return self.tokens.index(spelled)
        return None

    def neighbours(self, token_id: int, count: int) -> tuple[Neighbour, ...]:
        """The tokens whose embeddings point most nearly where this one's does, without itself."""
        cosines = self.directions @ self.directions[token_id]
        cosines[torch.tensor(sorted(self.left_out | {token_id}), dtype=torch.long)] = -torch.inf
        best = cosines.topk(min(count, len(self.tokens)))
        found = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return tuple(Neighbour(index, self.tokens[index], value) for index, value in found if value > -torch.inf)


def embedding_space(reader: Reader, *, is_target: bool = False) -> EmbeddingSpace:
    """The embeddings of what a model reads, or writes if those differ. Raises a TraceError if it reads no tokens."""
    matrix = _matrix(reader, is_target=is_target)
    weight, tokens = weight_of(matrix), reader.all_tokens()
    assert weight is not None, "an embedding is a matrix"
    # A matrix may have more rows than there are tokens, so that its size is a round number.
    weight, tokens = weight[: len(tokens)], tokens[: len(weight)]
    lengths = weight.norm(dim=1)
    directions = weight / lengths.clamp_min(torch.finfo(weight.dtype).tiny)[:, None]
    return EmbeddingSpace(tokens, directions, lengths, frozenset(reader.special_ids))


def is_shared(reader: Reader) -> bool:
    """Whether source and target have the same embeddings, as in §3.4."""
    return _matrix(reader, is_target=False) is _matrix(reader, is_target=True)


def _matrix(reader: Reader, *, is_target: bool) -> nn.Embedding:
    if isinstance(reader, SequenceTranslator):
        stack = reader.model.get_submodule("decoder" if is_target else "encoder")
        tokens = stack.get_submodule("embedding.tokens")
        assert isinstance(tokens, nn.Embedding)
        return tokens
    from model.adapters.base_reader import BaseReader

    if not isinstance(reader, BaseReader) or reader.abilities.reads != "text":
        raise TraceError("This model reads patches of a picture, not tokens, so it has no embedding matrix of words.")
    matrix = reader.model.get_input_embeddings()  # type: ignore[operator]
    if not isinstance(matrix, nn.Embedding):
        raise TraceError("This model does not expose its embedding matrix.")
    return matrix


SeenIn = Literal["English", "German", "both", ""]
#: Pairs that are cut into pieces.
PAIRS: Final = 6_000
_GERMAN_LETTERS: Final = frozenset("äöüßÄÖÜ")
#: Seen so many times as often in one language: what the other has of it are names and slips.
_CLEARLY: Final = 50


@cache
def _sentences() -> tuple[tuple[str, ...], tuple[str, ...]]:
    pairs = [drawn.pair for drawn in written_pairs(PAIRS, seed=1)]
    return tuple(pair.source for pair in pairs), tuple(pair.target for pair in pairs)


def seen_in(tokenizer: Tokenizer) -> tuple[SeenIn, ...]:
    """In which language each piece of a joint vocabulary was seen, in the order of their ids; "" if in no sentence.

    The sentences are pairs of the pronoun curriculum that the model was trained on. Letters that only German has tell
    it, too.
    """
    counts = [[0, 0] for _ in range(tokenizer.vocab_size)]
    for language, sentences in enumerate(_sentences()):
        for sentence in sentences:
            for token_id in tokenizer.encode(sentence):
                counts[token_id][language] += 1
    pieces = tokenizer.tokens(range(tokenizer.vocab_size))
    return tuple(_language(piece, *count) for piece, count in zip(pieces, counts, strict=True))


def _language(piece: str, english: int, german: int) -> SeenIn:
    if _GERMAN_LETTERS.intersection(piece) or german > _CLEARLY * english:
        return "German"
    if english > _CLEARLY * german:
        return "English"
    return "both" if english and german else ""
