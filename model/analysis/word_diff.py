"""Compare two texts word by word."""

from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True)
class WordSpan:
    """Words that both texts have, or that one has where the other has something else, or nothing.

    Attributes:
        first, second: the words in each text; equal where nothing changes, empty where a text has none.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether both texts have these words."""
        return self.first == self.second


def word_diff(first: str, second: str) -> tuple[WordSpan, ...]:
    """Spans in reading order, matched by difflib's longest common blocks of words (what white space separates)."""
    a, b = first.split(), second.split()
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return tuple(WordSpan(tuple(a[i:j]), tuple(b[k:m])) for _, i, j, k, m in matcher.get_opcodes())
