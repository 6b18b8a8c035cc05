"""Compare two texts word by word; find the words of a text that a vocabulary barely knows."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final

from model import later
from model.unspaced import has_unspaced

if TYPE_CHECKING:
    from model.analysis.word_diff import WordSpan

#: A word of at least so many pieces is rare, and one of at least three if they have fewer letters each than this.
_MANY_PIECES: Final = 5
_FEW_LETTERS: Final = 2


@dataclass(frozen=True, slots=True)
class RareWords:
    """The words of a text that are broken into many pieces, into letters or into bytes.

    Attributes:
        pieces: word → how many pieces it is broken into.
        are_most: more than half of the words are so.
    """

    pieces: Mapping[str, int] = field(default_factory=dict)
    are_most: bool = False


def word_diff(first: str, second: str) -> tuple["WordSpan", ...]:
    """The words that two texts share and those in which they differ, in order."""
    return later.word_diff.word_diff(first, second)


def rare_words(tokens: Sequence[str], are_bytes: Sequence[bool], special: Collection[str]) -> RareWords:
    """The words of a text that its vocabulary barely knows; each token with whether it is a byte."""
    axis = later.axes.whole_words(tokens, special).without_special_tokens(special)
    rare, count = {}, 0
    for word, group in zip(axis.labels, axis.groups, strict=True):
        pieces = [tokens[position] for position in group]
        # A character of Chinese or Japanese is a piece as long as others.
        is_broken = not has_unspaced(word) and any(map(_is_broken, _runs_of_letters(pieces)))
        # So is a byte that is a whole character; others are spelled by their numbers.
        if is_broken or any(are_bytes[position] and len(tokens[position]) > 1 for position in group):
            rare[word] = len(pieces)
            count += 1
    return RareWords(rare, 2 * count > len(axis.labels))


def _runs_of_letters(pieces: Iterable[str]) -> list[list[str]]:
    """The pieces with letters, parted where others stand between them: "did n ' t" has two runs."""
    runs = groupby(pieces, key=lambda piece: any(map(str.isalpha, piece)))
    return [list(run) for has_letters, run in runs if has_letters]


def _is_broken(run: Sequence[str]) -> bool:
    letters = sum(map(str.isalpha, "".join(run)))
    return len(run) >= _MANY_PIECES or (len(run) >= 3 and letters < _FEW_LETTERS * len(run))
