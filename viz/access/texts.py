"""Compare two texts word by word; find the words of a text that a vocabulary barely knows."""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from model.analysis.word_diff import WordSpan

#: A word of at least so many pieces is rare, and one of at least three if they have fewer letters each than this.
_MANY_PIECES: Final = 5
_FEW_LETTERS: Final = 2


def word_diff(first: str, second: str) -> tuple["WordSpan", ...]:
    """The words that two texts share and those in which they differ, in order."""
    from model.analysis.word_diff import word_diff

    return word_diff(first, second)


def rare_words(tokens: Sequence[str], special: Collection[str]) -> dict[str, int]:
    """Word → its pieces, for the words of a text that are broken into many, into letters or into bytes.

    Empty where most words are: that says something of the vocabulary or of the language, and not of a word.
    """
    from model.trace.axes import whole_words

    axis = whole_words(tokens, special).without_special_tokens(special)
    rare = {}
    for word, group in zip(axis.labels, axis.groups, strict=True):
        pieces = [tokens[position] for position in group]
        # A byte below 0x80 is a sign such as “;”.
        has_bytes = any(piece.startswith("<0x") and piece >= "<0x80" for piece in pieces)
        if has_bytes or any(map(_is_broken, _runs_of_letters(pieces))):
            rare[word] = len(pieces)
    return rare if 2 * len(rare) <= len(axis.labels) else {}


def _runs_of_letters(pieces: Iterable[str]) -> list[list[str]]:
    """The pieces with letters, parted where others stand between them: "did n ' t" has two runs."""
    runs = groupby(pieces, key=lambda piece: any(map(str.isalpha, piece)))
    return [list(run) for has_letters, run in runs if has_letters]


def _is_broken(run: Sequence[str]) -> bool:
    letters = sum(map(str.isalpha, "".join(run)))
    return len(run) >= _MANY_PIECES or (len(run) >= 3 and letters < _FEW_LETTERS * len(run))
