"""The two sentences as words, with marked ones: pointing at one marks its twin; a chosen one is the pictures' query.

A role has a colour and a line of its own under the word, so that colour is not the only sign.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import attention, models, texts
from viz.pages.coreference import data
from viz.pages.coreference.data import MAX_PAIRS, Row, Side
from viz.pictures.figures import charts
from viz.pictures.focus import FocusAxis, Place, beside
from viz.selection import state
from viz.server.caches import cached
from viz.text.html import literal
from viz.text.messages import Message, _, said
from viz.theme import BLUE, GREEN, VERMILLION
from viz.ui import sentence, trace_tables, words
from viz.ui.sentence import Line, with_rare_words
from viz.ui.words import WordHeads, WordLine, WordMark, Words

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace

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
    "pronoun": Role(said("pronoun"), said("Pronoun"), BLUE, "double", "dot"),
    "antecedent": Role(said("antecedent"), said("Antecedent"), GREEN, "solid", "solid"),
    "distractor": Role(said("distractor"), said("Distractor"), VERMILLION, "dashed", "dash"),
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
        + "".join(f"<span>{_marked_html(role, literal(ROLES[role].name))}</span>" for role in ROLES)
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
            parts += [with_rare_words(line, at, begin), _marked_html(role, with_rare_words(line, begin, end))]
            at = end
    return "".join(parts) + with_rare_words(line, at)


def _marked_html(role: str, content: str) -> str:
    """HTML marked as what plays a role."""
    colour, line = ROLES[role].colour, ROLES[role].line
    return (
        f'<mark title="{literal(ROLES[role].name)}" style="color:inherit;background:none;'
        f'border-bottom:3px {line} {colour};">{content}</mark>'
    )


#: The field of the query of each sentence.
TOKEN_FIELDS: Final = ("token", "other_token")
#: Why there is a question mark behind a word.
_GUESSED: Final = said("guessed by this page")
_HOW: Final = said(
    "Point at a word to see what the open head attends to from it, in both sentences; click it to make it the query of "
    "the pictures."
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One of the sentences, and where it is shown."""

    side: Side  #: its trace, its marked words, and the rows that look
    slot: "DeltaGenerator"  #: where it is shown
    is_guess: bool  #: whether its marked words are guessed


def show(shown: Sequence[Sentence], site: str) -> None:
    """Both sentences as words that the open head of this attention tints."""
    sides = [one.side for one in shown]
    for one in shown:
        number, trace = one.side.number, one.side.trace
        with one.slot:
            lines = _lines(one, sides[1 - number].trace)
            if not lines:
                st.html(sentence.lines_html(sentence.lines_of(trace)))
                continue
            looking = tuple(dict.fromkeys(word for row in one.side.rows for word in _words_of(trace, site, row)))
            chosen = () if state.current().value(TOKEN_FIELDS[number]) is None else looking[:1]
            content = Words(lines, (chosen, ()), looking, _heads(one.side, site), is_single=True, how=_HOW)
            words.word_picker(content, on_choose=partial(_choose, sides, site, number), key=f"words-{number}")
    # What shows nothing stands where its room is not missed.
    for side in sides:
        if not attention.is_long(side.trace, site):
            _send_tiles(side, site)


def begin(sides: Sequence[Side], site: str) -> None:
    """Look from the word that a person has chosen on another page, where nothing is chosen on this one."""
    selection, looking = state.current(), words.chosen_in(sides[0].trace)[0]
    if selection.coreference.pair or selection.coreference.other_token is not None or not looking:
        return
    if selection.common.token in (None, texts.cell_of_word(sides[0].trace, site, looking[0])[0]):
        _look_from(sides, site, 0, looking[0])


@cached(max_entries=MAX_PAIRS)
def twins(first: "Trace", second: "Trace") -> Mapping[int, int]:
    """Word of the first sentence → its twin in the second: the equal one in equal order, or what replaces it."""
    found: dict[int, int] = {}
    known = [texts.words(trace) for trace in (first, second)]
    for is_source in (True, False):
        (begin, own), (other_begin, other) = (
            (0, one.labels[: one.num_source]) if is_source else (one.num_source, one.labels[one.num_source :])
            for one in known
        )
        for kind, start, end, other_start, other_end in SequenceMatcher(None, own, other, autojunk=False).get_opcodes():
            if kind == "equal" or (kind == "replace" and end - start == other_end - other_start):
                found |= {begin + start + i: other_begin + other_start + i for i in range(end - start)}
    return found


def places(sides: Sequence[Side], number: int, tokens: Sequence[int], *, is_source: bool) -> list[Place]:
    """The place of some tokens of the first or the second sentence, and that of their words' twins in the other."""
    own, other = sides[number].trace, sides[1 - number].trace
    known, others, twin_of = texts.words(own), texts.words(other).groups, twins(own, other)
    found = dict.fromkeys(known.at(token, is_source=is_source) for token in tokens)
    more = [token for word in found if word is not None and word in twin_of for token in others[twin_of[word]]]
    axis = FocusAxis("source" if is_source else "target")
    of_both = (axis, beside(axis)) if number == 0 else (beside(axis), axis)
    return [Place(at.side, held) for at, held in zip(of_both, (tokens, more), strict=True) if held]


def tell(
    figure: "go.Figure", sides: Sequence[Side], of: Sequence[Side], rows: Sequence[Row], site: str, layer: int | None
) -> None:
    """Let a figure with a head a row and a key a column say which these are.

    Args:
        of: those that the figure shows.
        rows: what it shows of each of these, column by column.
        layer: whose heads; None where they are averaged.
    """
    looking, keys = attention.focus_axes(sides[0].trace, site)
    heads, columns = rows[0].values.shape
    words = (
        (
            [
                place
                for side, group in zip(of, groups, strict=True)
                for place in places(sides, side.number, group, is_source=keys.side == "source")
            ],
            charts.column_of(column, heads),
        )
        for column, groups in enumerate(zip(*(row.groups for row in rows), strict=True))
    )
    asked = [row + looking.ahead for row in of[0].rows]
    query = places(sides, of[0].number, asked, is_source=looking.side == "source")[0]
    every = ((site, layer, head) for head in range(heads) if layer is not None)
    charts.spots(figure, heads=((head, charts.row_of(head[2], columns)) for head in every), words=words, query=query)


def _words_of(trace: "Trace", site: str, row: int) -> list[int]:
    """The word that a row of an attention stands for, if it stands for one."""
    word = texts.words_of_cell(trace, site, row, 0)[0]
    return [] if word is None else [word]


def _lines(one: Sentence, other: "Trace") -> list[WordLine]:
    """The lines with what their words are, and with the tokens of their twins."""
    side, begin, lines = one.side, 0, []
    roles = {} if side.case is None else data.words_of_case(side.trace, models.reader(state.current().model), side.case)
    twin_of, others = twins(side.trace, other), texts.words(other).groups
    for line in words.word_lines(side.trace):
        own = range(begin, begin + len(line.words))
        marks = [_mark(role, word - begin, one) for word, role in roles.items() if word in own]
        twin = FocusAxis(line.axis.side, groups=[others[twin_of[word]] if word in twin_of else () for word in own])
        if side.number == 0:
            lines.append(replace(line, marks=marks, twins=beside(twin)))
        else:
            lines.append(replace(line, axis=beside(line.axis), marks=marks, twins=twin))
        begin += len(line.words)
    return lines


def _mark(role: str, word: int, one: Sentence) -> WordMark:
    of = ROLES[role]
    return WordMark(word, of.name, of.colour, of.line, _GUESSED if one.is_guess and role != "pronoun" else "")


def _heads(side: Side, site: str) -> WordHeads | None:
    """The head that is open, among the tiles of a sentence; of a long text none."""
    if attention.is_long(side.trace, site):
        return None
    common = state.current().common
    return WordHeads(attention.tiles_key(side.trace, site), site, common.layer, common.head)


def _send_tiles(side: Side, site: str) -> None:
    rows, columns = attention.focus_axes(side.trace, site)
    axes = (rows, columns) if side.number == 0 else (beside(rows), beside(columns))
    trace_tables.send(side.trace, models.reader(state.current().model), site, axes, key=f"tiles-{side.number}")


def _choose(sides: Sequence[Side], site: str, number: int, chosen: words.Chosen) -> None:
    looking = chosen[0][0] if chosen[0] else None
    _look_from(sides, site, number, looking)
    if not state.current().coreference.pair:
        twin_of = twins(sides[number].trace, sides[0].trace)
        first = looking if number == 0 or looking is None else twin_of.get(looking)
        state.change(from_words=() if first is None else (first,), to_words=(), key_token=None)


def _look_from(sides: Sequence[Side], site: str, number: int, word: int | None) -> None:
    """Look from a word of one sentence, and from its twin in the other; from the pronouns again without one."""
    for side in sides:
        own = word
        if word is not None and side.number != number:
            own = twins(sides[number].trace, side.trace).get(word)
        row = None if own is None else texts.cell_of_word(side.trace, site, own)[0]
        state.change(**{TOKEN_FIELDS[side.number]: row})
