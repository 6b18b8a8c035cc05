"""Show a sentence with pronoun, antecedent and distractor marked, as HTML; and say how these are marked in words.

A role has a colour and a line of its own under the word, so that colour is not the only sign.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from viz.text.html import literal
from viz.text.messages import Message, _, said
from viz.theme import HEAD_COLOURS
from viz.ui.sentence import Line, with_rare_words

Span = tuple[int, int]
#: A text longer than this is cut off after its last mark.
MAX_SHOWN: Final = 600


@dataclass(frozen=True, slots=True)
class Role:
    """How what plays a part is called and marked."""

    #: name, title: within a sentence, and as a label begins.
    name: Message
    title: Message
    colour: str  #: of the mark
    #: line, dash: under the word, for CSS, and the same for plotly.
    line: str
    dash: str


ROLES: Final[Mapping[str, Role]] = {
    "pronoun": Role(said("pronoun"), said("Pronoun"), HEAD_COLOURS[0], "double", "dot"),
    "antecedent": Role(said("antecedent"), said("Antecedent"), HEAD_COLOURS[2], "solid", "solid"),
    "distractor": Role(said("distractor"), said("Distractor"), HEAD_COLOURS[3], "dashed", "dash"),
}


def marked_line(source: Line, spans: Mapping[str, Span], after: str) -> str:
    """A sentence in a line of its own, with a text after it.

    Args:
        spans: role → its characters in the sentence.
        after: the text.
    """
    return (
        '<div style="display:flex;flex-wrap:wrap;column-gap:0.9rem;align-items:baseline;line-height:1.6">'
        f'{_line(source, spans)}<span style="opacity:0.8">{literal(after)}</span></div>'
    )


def legend(*, is_guess: bool = False) -> str:
    """What each line under a word means, and the sign of a guess."""
    told = _("? guessed by this page: mark other words above, or confirm the guess")
    guess = f"<span>{literal(told)}</span>" if is_guess else ""
    return (
        '<div style="display:flex;flex-wrap:wrap;column-gap:1.2rem;font-size:0.85rem;line-height:1.9">'
        + "".join(f"<span>{_mark(role, literal(ROLES[role].name))}</span>" for role in ROLES)
        + f"{guess}</div>"
    )


def _line(line: Line, spans: Mapping[str, Span]) -> str:
    # Each becomes one space, so that the spans hold; the browser joins those that follow one another.
    text = re.sub(r"\s", " ", line.text)
    end = max([MAX_SHOWN, *(stop for _, stop in spans.values())])
    rest = " …" if len(text.rstrip()) > end else ""
    shown = replace(line, text=text[:end].rstrip())
    return (
        f'<span aria-hidden="true" style="font-size:0.75rem;letter-spacing:0.08em;opacity:0.65">{line.mark}</span>'
        f'<span lang="{line.language}" dir="auto" style="font-size:1rem;overflow-wrap:anywhere">'
        f"{_marked(shown, spans)}{rest}</span>"
    )


def _marked(line: Line, spans: Mapping[str, Span]) -> str:
    parts, at = [], 0
    for role, (begin, end) in sorted(spans.items(), key=lambda item: item[1]):
        if begin >= at:
            parts += [with_rare_words(line, at, begin), _mark(role, with_rare_words(line, begin, end))]
            at = end
    return "".join(parts) + with_rare_words(line, at)


def _mark(role: str, content: str) -> str:
    """HTML marked as what plays a role."""
    colour, line = ROLES[role].colour, ROLES[role].line
    return (
        f'<mark title="{literal(ROLES[role].name)}" style="color:inherit;background:none;'
        f'border-bottom:3px {line} {colour};">{content}</mark>'
    )
