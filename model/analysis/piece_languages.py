"""Tell of a piece of the shared vocabulary in which language it was seen: in English or German sentences, or in both.

The sentences are pairs of the pronoun curriculum that the model was trained on; a piece that is in none of them is not
placed. Letters that only German has tell it, too.
"""

from functools import cache
from typing import Final, Literal

from model.tokenizer import Tokenizer
from model.training.pronouns import training_pairs

SeenIn = Literal["English", "German", "both", ""]
#: Pairs that are cut into pieces.
PAIRS: Final = 6_000
_GERMAN_LETTERS: Final = frozenset("äöüßÄÖÜ")
#: Seen so many times as often in one language: what the other has of it are names and slips.
_CLEARLY: Final = 50


@cache
def _sentences() -> tuple[tuple[str, ...], tuple[str, ...]]:
    pairs = [drawn.pair for drawn in training_pairs(PAIRS, seed=1)]
    return tuple(pair.source for pair in pairs), tuple(pair.target for pair in pairs)


def seen_in(tokenizer: Tokenizer) -> tuple[SeenIn, ...]:
    """The language of every piece, in the order of their ids; "" for one that no sentence has."""
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
