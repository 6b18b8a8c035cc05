"""Tell which words of two texts differ, to be marked by `viz.text.html`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from viz.text.html import Marked

if TYPE_CHECKING:
    from model.analysis.word_diff import WordSpan

#: Shown where the other text has words and this one none.
MISSING: Final = "∅"


def pieces(spans: "Iterable[WordSpan]") -> tuple[tuple[str, bool], ...]:
    """The words of the second of two texts in reading order, each run with whether the first has something else.

    `MISSING` stands where the words of the first would stand, with a space before and after it as they have.
    """
    made: list[tuple[str, bool]] = []
    is_after_gap = False
    for span in spans:
        text = span.second_text or _like(span.first_text, MISSING)
        made.append((_like(span.first_text, text) if is_after_gap else text, not span.is_same))
        is_after_gap = not span.second
    return tuple(made)


def _like(model: str, text: str) -> str:
    """A text with a space before it if a model has one, or it has one itself."""
    return f" {text}" if model.startswith(" ") and not text.startswith(" ") else text


def marked(spans: "Iterable[WordSpan]") -> Marked:
    """The second of two texts, marked where the first has something else."""
    return Marked(pieces(spans))
