"""Show a sentence above its translation with pronoun, antecedent and distractor marked, as HTML.

A role has a colour and a line of its own under the word, so that colour is not the only sign.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from viz.core.html import literal
from viz.core.theme import HEAD_COLOURS

Span = tuple[int, int]
#: A text longer than this is cut off after its last mark.
MAX_SHOWN: Final = 600


@dataclass(frozen=True, slots=True)
class Role:
    """How what plays a part is marked: its colour, the line under it in CSS, and the same as a plotly dash."""

    colour: str
    line: str
    dash: str


ROLES: Final[Mapping[str, Role]] = {
    "pronoun": Role(HEAD_COLOURS[0], "double", "dot"),
    "antecedent": Role(HEAD_COLOURS[2], "solid", "solid"),
    "distractor": Role(HEAD_COLOURS[3], "dashed", "dash"),
}


def marked_sentence(
    source: str,
    spans: Mapping[str, Span],
    translation: str,
    pronoun: Span | None,
    names: tuple[str, str] = ("EN", "DE"),
) -> str:
    """A sentence above its translation; each takes its own writing direction.

    Args:
        source: English.
        spans: role → its characters in the source.
        translation: German.
        pronoun: its characters in the translation.
        names: what the two are; without a translation there is one line.
    """
    german = {} if pronoun is None else {"pronoun": pronoun}
    return (
        '<div style="display:grid;grid-template-columns:max-content 1fr;column-gap:0.9rem;row-gap:0.3rem;'
        'align-items:baseline;line-height:1.6">'
        + _line(names[0], "en", source, spans)
        + (_line(names[1], "de" if names[1] == "DE" else "", translation, german) if translation else "")
        + "</div>"
    )


def legend() -> str:
    """What each line under a word means."""
    return (
        '<div style="display:flex;flex-wrap:wrap;column-gap:1.2rem;font-size:0.85rem;line-height:1.9">'
        + "".join(f"<span>{_mark(role, role)}</span>" for role in ROLES)
        + "</div>"
    )


def _line(mark: str, language: str, text: str, spans: Mapping[str, Span]) -> str:
    # Each becomes one space, so that the spans hold; the browser joins those that follow one another.
    shown = re.sub(r"\s", " ", text)
    end = max([MAX_SHOWN, *(stop for _, stop in spans.values())])
    rest = " …" if len(shown.rstrip()) > end else ""
    return (
        f'<span aria-hidden="true" style="font-size:0.75rem;letter-spacing:0.08em;opacity:0.65">{mark}</span>'
        f'<span lang="{language}" dir="auto" style="font-size:1.15rem;overflow-wrap:anywhere">'
        f"{_marked(shown[:end].rstrip(), spans)}{rest}</span>"
    )


def _marked(text: str, spans: Mapping[str, Span]) -> str:
    parts, at = [], 0
    for role, (begin, end) in sorted(spans.items(), key=lambda item: item[1]):
        if begin >= at:
            parts += [literal(text[at:begin]), _mark(role, text[begin:end])]
            at = end
    return "".join(parts) + literal(text[at:])


def _mark(role: str, text: str) -> str:
    colour, line = ROLES[role].colour, ROLES[role].line
    return (
        f'<mark title="{role}" style="color:inherit;background:color-mix(in srgb,{colour} 22%,transparent);'
        f'border-bottom:3px {line} {colour};border-radius:2px;padding:0 2px">{literal(text)}</mark>'
    )
