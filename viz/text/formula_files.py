"""Read the formulas of a page and their sources from the Markdown file beside it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

#: What such a file is called.
NAME: Final = "formulas.md"


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula as TeX, its title, which may be empty, and as Markdown on one line what to know of it."""

    title: str
    tex: str
    text: str


def formulas_in(content: str) -> Iterator[Formula]:
    """The formulas of a file's content.

    Each begins with a line `## title`, where the title may be empty; `$$` is before and after the formula.
    """
    for part in content.split("##")[1:]:
        title, _line_end, rest = part.partition("\n")
        _before, tex, text = rest.split("$$")
        yield Formula(title.strip(), tex.strip(), " ".join(text.split()))
