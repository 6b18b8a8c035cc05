"""Tell which words of two texts differ, to be marked by `viz.core.html`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from viz.core.html import Marked

if TYPE_CHECKING:
    from model.analysis.word_diff import WordSpan

#: Shown where the other text has words and this one none.
MISSING: Final = "∅"


def pieces(spans: "Iterable[WordSpan]") -> tuple[tuple[str, bool], ...]:
    """The words of the second of two texts in reading order, each run with whether the first has something else."""
    return tuple((" ".join(span.second) or MISSING, not span.is_same) for span in spans if span.first or span.second)


def marked(spans: "Iterable[WordSpan]") -> Marked:
    """The second of two texts, marked where the first has something else."""
    return Marked(pieces(spans))
