"""Compare two texts word by word."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.analysis.word_diff import WordSpan


def word_diff(first: str, second: str) -> tuple["WordSpan", ...]:
    """The words that two texts share and those in which they differ, in order."""
    from model.analysis.word_diff import word_diff

    return word_diff(first, second)
