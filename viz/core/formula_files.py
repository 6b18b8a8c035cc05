"""Read the Markdown files that hold the formulas of a page and their sources."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Formula:
    """A part of such a file.

    Attributes:
        title: "" where the formula needs none.
        tex: the formula.
        text: what to know of it, as Markdown in one line; in English, as the catalogues have it.
    """

    title: str
    tex: str
    text: str


def formulas(content: str) -> Iterator[Formula]:
    """The parts of a file: each begins with a line `## title`; `$$` stands before and after its formula."""
    for part in content.split("##")[1:]:
        title, _newline, rest = part.partition("\n")
        _before, tex, text = rest.split("$$")
        yield Formula(title.strip(), tex.strip(), " ".join(text.split()))
