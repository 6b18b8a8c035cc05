"""Write text of people, and small tables of it, as HTML in which nothing of theirs is read as HTML.

`st.table` and `st.markdown` read Markdown in what they are given, and would fetch a picture that a text names; these
functions read nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final
from unicodedata import category

from viz.text.messages import Message, _, shown, template
from viz.text.written import NamedHead, display_token, row_parts
from viz.theme import BLUE, ORANGE

if TYPE_CHECKING:
    from model.analysis.word_diff import WordSpan

_LINE: Final = "border-bottom:1px solid color-mix(in srgb,currentColor 18%,transparent)"
_CELL: Final = "padding:0.35rem clamp(0.5rem,2vw,1.1rem) 0.35rem 0;vertical-align:baseline;overflow-wrap:break-word"
_HEAD: Final = "font-size:0.8rem;font-weight:600;opacity:0.75;vertical-align:bottom;white-space:normal"
_MARK: Final = (
    f"color:inherit;background:color-mix(in srgb,{ORANGE} 24%,transparent);"
    f"border-bottom:2px solid {ORANGE};border-radius:2px;padding:0 2px;overflow-wrap:anywhere"
)
_GONE: Final = f"text-decoration:line-through 2px {ORANGE};opacity:0.85"
_NEW: Final = f"text-decoration:underline 3px {BLUE};text-underline-offset:0.2em;font-weight:600"
_NUMBER: Final = "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap"
#: Names of rows that are as short as these, such as "L2 H1", stay on one line.
_SHORT: Final = 12
#: A longer name, such as that of a file, and where in it the next line may begin.
_LONG, _BREAKS = re.compile(rf"\S{{{_SHORT + 1},}}"), re.compile(r"(?<=[_/])(?=\w)")


@dataclass(frozen=True, slots=True)
class Column:
    """A column's title; its numbers are aligned right, its text may be in a language of its own."""

    title: str
    is_number: bool = False
    language: str = ""


@dataclass(frozen=True, slots=True)
class Marked:
    """A text in pieces, each with the space before it and with whether it is marked."""

    pieces: tuple[tuple[str, bool], ...]

    def html(self) -> str:
        """As HTML that shows every piece as it is."""
        return "".join(
            _within("mark", _MARK, text) if is_marked else literal(text) for text, is_marked in self.pieces
        ).lstrip(" ")


def visible(text: str) -> str:
    """Text with its control characters as visible signs; a message is in the language of the page run."""
    return "".join(display_token(c) if category(c) == "Cc" else c for c in shown(text))


def literal(text: str) -> str:
    """Text as HTML that shows it as it is, also within an attribute."""
    return escape(visible(text))


def row_name(name: str, *, writes: bool) -> str:
    """The name of a row as HTML; of a decoder's, what the row stands for is bold (`written.row_parts`)."""
    before, stands_for, after = (literal(part) for part in row_parts(name, writes=writes))
    bold = f"<b>{stands_for}</b>" if before or after else stands_for
    return f'<bdi dir="{"ltr" if before or after else "auto"}">{before}{bold}{after}</bdi>'


def with_links(text: str) -> str:
    """Text as HTML that shows it as it is; heads that a message names are links."""
    if isinstance(text, NamedHead):
        return f'<a href="{text.address}">{literal(text)}</a>'
    if isinstance(text, Message) and any(isinstance(value, NamedHead) for value in text.values.values()):
        values = {name: with_links(value) if isinstance(value, str) else value for name, value in text.values.items()}
        return literal(template(text.template)).format(**values)
    return literal(text)


def table(columns: Sequence[Column], rows: Sequence[Sequence[str | Marked]], *, label: str) -> str:
    """An HTML table with an accessible name; the first cell of a row is its header.

    Every text is shown literally, words of it marked where that is asked for, and the heads that a message names as
    links.
    """
    assert all(len(row) == len(columns) for row in rows), "one text for each column"
    head = "".join(
        f'<th scope="col" style="{_style(column)};{_HEAD}">{literal(column.title)}</th>' for column in columns
    )
    body = "".join(f"<tr>{''.join(map(_cell, columns, row, range(len(row))))}</tr>" for row in rows)
    return (
        f'<div class="scrolls"><table aria-label="{literal(label)}" style="border-collapse:collapse;'
        f'line-height:1.4;font-size:0.95rem"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _within(name: str, style: str, text: str) -> str:
    """A text within an element of this name and style, the space before it outside."""
    bare = text.lstrip(" ")
    return f'{" " * (bare != text)}<{name} style="{style}">{literal(bare)}</{name}>'


def _cell(column: Column, text: str | Marked, position: int) -> str:
    opening, closing = ('th scope="row"', "th") if position == 0 else ("td", "td")
    language = f' lang="{literal(column.language)}"' if column.language else ""
    inside = text.html() if isinstance(text, Marked) else _wrapped(text, column)
    style = f"{_style(column)};font-weight:400"
    if column.is_number and "</span>" in inside:
        style += ";white-space:normal"
    if position == 0 and isinstance(text, str) and len(text) <= _SHORT:
        style += ";white-space:nowrap"
    return f'<{opening} dir="auto"{language} style="{style}">{inside}</{closing}>'


def _wrapped(text: str, column: Column) -> str:
    """A cell's text as HTML, with the places where it may go on in the next line if the table has no room for it.

    A number stays whole, and so does the interval that stands in brackets behind it.
    """
    shown_text = with_links(text)
    if not column.is_number:
        if "<a " in shown_text:
            return shown_text
        return _LONG.sub(lambda name: _BREAKS.sub("<wbr>", name[0]), shown_text)
    number, bracket, rest = shown_text.partition(" (")
    whole = '<span style="white-space:nowrap">'
    return f"{whole}{number}</span> {whole}({rest}</span>" if bracket else number


def _style(column: Column) -> str:
    # "start" follows the writing direction of the cell, which each cell finds for itself.
    return f"{_CELL};{_LINE};{_NUMBER if column.is_number else 'text-align:start'}"


def word_changes(spans: Iterable["WordSpan"], *, names: tuple[str, str], language: str = "") -> str:
    """Two named texts as one: what only the first has is struck through, what only the second has is underlined."""
    parts: list[str] = []
    for span in spans:
        if span.is_same:
            # Where only one of them has a space, what only the other has stands before it.
            parts.append(literal(max(span.first_text, span.second_text, key=lambda text: text.startswith(" "))))
            continue
        if span.first:
            parts.append(_within("del", _GONE, span.first_text))
        if span.first and span.second and not span.second_text.startswith(" "):
            # Two words never touch; two punctuation marks may.
            parts.append(" " if span.first_text[-1].isalnum() and span.second_text[0].isalnum() else "")
        if span.second:
            parts.append(_within("ins", _NEW, span.second_text))
    key = f"{_within('del', _GONE, names[0])} {_within('ins', _NEW, names[1])}"
    return (
        f'<p lang="{literal(language)}" dir="auto" style="font-size:1.1rem;line-height:1.7;margin:0 0 0.3rem;'
        f'overflow-wrap:anywhere">{"".join(parts).lstrip(" ")}</p>'
        f'<p style="font-size:0.8rem;opacity:0.8;margin:0">{_("only in: {key}", key=key)}</p>'
    )


def swatches(legend: Sequence[tuple[str, str]]) -> str:
    """A legend for several pictures: each colour as a small square before what it stands for."""
    line = "box-shadow:0 0 0 1px color-mix(in srgb,currentColor 35%,transparent)"
    square = f"width:0.85em;height:0.85em;border-radius:2px;{line}"
    return (
        '<div style="display:flex;flex-wrap:wrap;column-gap:1.4rem;row-gap:0.3rem;font-size:0.9rem">'
        + "".join(
            '<span style="display:inline-flex;align-items:center;gap:0.5rem">'
            f'<span aria-hidden="true" style="background:{literal(colour)};{square}"></span>{literal(meaning)}</span>'
            for colour, meaning in legend
        )
        + "</div>"
    )
