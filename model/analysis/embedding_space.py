"""Neighbours in an embedding matrix (§3.4: one for source, target and output, where it is shared).

Cosines, as Mikolov et al. 2013 ("Linguistic Regularities in Continuous Space Word Representations") compare word
vectors.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from model.reader import Reader, Writer
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
        """The id of the token that is this whole word, preferably one that begins a word; None if there is none."""
        # The last one: a letter that is a piece is a byte as well, and bytes come first.
        ids = {token: token_id for token_id, token in enumerate(self.tokens)}
        return ids.get(f"▁{word}", ids.get(word))

    def neighbours(self, token_id: int, count: int) -> tuple[Neighbour, ...]:
        """The tokens whose embeddings have the largest cosine with this one's, without itself."""
        cosines = self.directions @ self.directions[token_id]
        cosines[torch.tensor(sorted(self.left_out | {token_id}), dtype=torch.long)] = -torch.inf
        best = cosines.topk(min(count, len(self.tokens)))
        found = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return tuple(Neighbour(index, self.tokens[index], value) for index, value in found if value > -torch.inf)


def embedding_space(reader: Reader, *, is_target: bool = False) -> EmbeddingSpace:
    """The embeddings of what a model reads, or writes if those differ. Raises a TraceError if it reads no tokens."""
    weight, tokens = _matrix(reader, is_target=is_target), reader.all_tokens(of_source=not is_target)
    # A matrix may have more rows than there are tokens, so that its size is a round number.
    weight, tokens = weight[: len(tokens)], tokens[: len(weight)]
    lengths = weight.norm(dim=1)
    directions = weight / lengths.clamp_min(torch.finfo(weight.dtype).tiny)[:, None]
    # By name: a source's vocabulary may have other ids.
    written = reader.all_tokens()
    special = {written[token_id] for token_id in reader.special_ids if token_id < len(written)}
    left_out = frozenset(token_id for token_id, token in enumerate(tokens) if token in special)
    return EmbeddingSpace(tokens, directions, lengths, left_out)


def is_shared(reader: Reader) -> bool:
    """Whether source and target have the same embeddings, as in §3.4."""
    return torch.equal(_matrix(reader, is_target=False), _matrix(reader, is_target=True))


def _matrix(reader: Reader, *, is_target: bool) -> Float[Tensor, "token width"]:
    kind = reader.abilities.kind
    is_written = kind == "decoder" or (kind == "encoder-decoder" and is_target)
    return reader.parts.table("decoder" if is_written else "encoder")


SeenIn = Literal["English", "German", "both", ""]
#: Pairs that are split into tokens.
PAIRS: Final = 6_000
_GERMAN_LETTERS: Final = frozenset("äöüßÄÖÜ")
#: A token seen this many times as often in one language counts as that language's: the rest are names and slips.
_CLEARLY: Final = 50


@cache
def _sentences() -> tuple[tuple[str, ...], tuple[str, ...]]:
    pairs = [drawn.pair for drawn in written_pairs(PAIRS, seed=1)]
    return tuple(pair.source for pair in pairs), tuple(pair.target for pair in pairs)


def seen_in(reader: Writer) -> tuple[SeenIn, ...]:
    """In which language each token of a joint vocabulary was seen, in the order of their ids; "" if in no sentence.

    The sentences are pairs of the pronoun curriculum that our model was trained on; a letter that only German has also
    makes a token German. Empty for a model that reads one vocabulary and writes another.
    """
    if len(reader.parts.table("encoder")) != len(reader.parts.table("decoder")):
        return ()
    pieces = reader.all_tokens()
    counts = [[0, 0] for _ in pieces]
    for language, (sentences, cut) in enumerate(zip(_sentences(), (reader.source_ids, reader.target_ids), strict=True)):
        for sentence in sentences:
            for token_id in cut(sentence):
                counts[token_id][language] += token_id not in reader.special_ids
    return tuple(_language(piece, *count) for piece, count in zip(pieces, counts, strict=True))


def _language(piece: str, english: int, german: int) -> SeenIn:
    if _GERMAN_LETTERS.intersection(piece) or german > _CLEARLY * english:
        return "German"
    if english > _CLEARLY * german:
        return "English"
    return "both" if english and german else ""
