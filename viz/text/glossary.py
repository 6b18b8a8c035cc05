"""Terms of the field that texts use, each in two sentences, in every language of the app.

A text gets a link to `#term-LESSON` at the first place of each term, whose title is the sentences: plain Markdown, so
nothing of a text becomes HTML. `viz/pictures/head_tools/terms.js` keeps the first link to a term on a page, makes those
in texts of scripts, and shows the title on hover, focus and tap. `python -m viz.text.glossary` prints the terms for
`.github/GLOSSARY.md`.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from viz.text import messages

FILE: Final = Path(__file__).with_name("glossary.toml")
#: Where a text begins that names a lesson by a link.
HREF: Final = "#term-"
#: Code, formulas, links, quoted words and those that the text itself explains, in which nothing is linked.
_CLOSED: Final = re.compile(r"`[^`]*`|\*+[^*]+\*+|\$[^$]*\$|!?\[[^\]]*\]\([^)]*\)|“[^”]*”")


@dataclass(frozen=True, slots=True)
class Term:
    """A term in one language."""

    names: tuple[str, ...]  #: as it is found in texts, the first as it is listed
    text: str  #: what it means, two sentences
    lesson: str  #: the name of the lesson that has more


@cache
def terms(language: str) -> tuple[Term, ...]:
    """Every term in a language; in English where that language does not have it."""
    found = ((entry.get(language) or entry[messages.ENGLISH], entry["lesson"]) for entry in _content()["terms"])
    return tuple(Term((of["name"], *of.get("also", ())), of["text"], lesson) for of, lesson in found)


def explained(text: str) -> str:
    """Markdown in which each term is a link at its first place."""
    by_name, pattern = _search(messages.language())
    found: set[Term] = set()

    def link(match: re.Match[str]) -> str:
        term = by_name.get(match[0])
        if term is None or term in found:
            return match[0]
        found.add(term)
        return f'[{match[0]}]({HREF}{term.lesson} "{term.text}")'

    return pattern.sub(link, text)


@cache
def for_scripts(language: str) -> dict[str, object]:
    """The glossary as `viz/pictures/head_tools/terms.js` reads it."""
    by_name, pattern = _search(language)
    places = {term: place for place, term in enumerate(terms(language))}
    return {
        "pattern": pattern.pattern,
        "names": {name: places[term] for name, term in by_name.items()},
        "terms": [[term.lesson, term.text] for term in places],
    }


@cache
def _content() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


@cache
def _search(language: str) -> tuple[dict[str, Term], re.Pattern[str]]:
    """The terms of a language by their names, and what finds them or what is left alone; the longest name wins."""
    by_name = {name: term for term in terms(language) for name in term.names}
    names = sorted((*by_name, *_content()["other_words"].get(language, ())), key=len, reverse=True)
    # A word of Latin letters ends where letters do; Chinese has no such ends.
    whole = (rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])" for name in names)
    return by_name, re.compile("|".join((_CLOSED.pattern, *whole)))


def markdown() -> str:
    """The glossary as a Markdown file, every language a column."""
    languages = [messages.ENGLISH, *(code for code in messages.languages() if code != messages.ENGLISH)]
    rows = zip(*map(terms, languages), strict=True)
    lines = [
        "# Glossary",
        "",
        "Written by `python -m viz.text.glossary` from `viz/text/glossary.toml`, which the app uses, too.",
        "",
        "| " + " | ".join(languages) + " |",
        "|" + "---|" * len(languages),
        *("| " + " | ".join(f"**{term.names[0]}**: {term.text}" for term in row) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")
