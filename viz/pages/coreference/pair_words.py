"""The two sentences as words, with marked ones: pointing at one marks its twin; a chosen one is the pictures' query.

A role has a colour and a line of its own under the word, so that colour is not the only sign.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import attention, models, texts
from viz.pages.coreference import data
from viz.pages.coreference.data import Positions, Row, Side
from viz.pictures.figures import charts
from viz.pictures.focus import FocusAxis, Place, beside
from viz.selection import state
from viz.text.html import literal
from viz.text.messages import Message, _, in_a_row, said
from viz.text.written import display_token
from viz.theme import BLUE, GREEN, VERMILLION
from viz.ui import sentence, token_labels, trace_tables, words
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
    "Point at a word to see what the open head attends to from it, in both sentences; click the word to make it the "
    "query of the pictures."
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
    is_chosen = any(state.current().value(field) is not None for field in TOKEN_FIELDS)
    for one in shown:
        number, trace = one.side.number, one.side.trace
        with one.slot:
            lines = _lines(one, sides[1 - number].trace)
            if not lines:
                st.html(sentence.lines_html(sentence.lines_of(trace)))
                continue
            looking = tuple(dict.fromkeys(word for row in one.side.rows for word in _words_of(trace, site, row)))
            chosen = looking[:1] if is_chosen and not one.side.is_another else ()
            content = Words(lines, (chosen, ()), looking, _heads(one.side, site), is_single=True, how=_HOW)
            words.word_picker(content, on_choose=partial(_choose, sides, site, number), key=f"words-{number}")
    # What shows nothing stands where its room is not missed.
    for side in sides:
        if not attention.is_long(side.trace, site):
            _send_tiles(side, site)


def begin(sides: Sequence[Side], site: str) -> None:
    """Look from the word that a person has chosen on another page, where nothing is chosen on this one."""
    selection, looking = state.current(), words.chosen_in(sides[0].trace)[0]
    is_chosen = selection.coreference.pair or any(selection.value(field) is not None for field in TOKEN_FIELDS)
    if looking and not is_chosen:
        state.change(token=texts.cell_of_word(sides[0].trace, site, looking[0])[0])


@dataclass(frozen=True, slots=True)
class Query:
    """What a sentence is looked at from."""

    options: Mapping[int, str]  #: the first row of each token or word that can be chosen → its name
    at: int  #: which is
    rows: Positions  #: its rows, which are averaged
    note: str  #: why it is another one than that which was chosen, or only a part of that
    is_another: bool  #: whether it is another one


def queries(sides: Sequence[Side], site: str) -> list[Query]:
    """From what each sentence is looked at: what a person chose, or the word in its place in the other sentence.

    Where nothing is chosen these are the rows of the pronouns.
    """
    selection, reader = state.current(), models.reader(state.current().model)
    own = [data.own_rows(side, reader, site).rows for side in sides]
    chosen = [_chosen_row(side, site) for side in sides]
    found = []
    for side, of_pronoun, at, other in zip(sides, own, chosen, chosen[::-1], strict=True):
        axis = data.query_axis(side, reader, site, whole_words=selection.common.whole_words)
        if at is None and other is not None:
            at = _row_beside(sides, own, 1 - side.number, site, other)
        languages = models.languages(selection.model)
        default = of_pronoun[-1] if of_pronoun else token_labels.default_row(side.trace, site, languages)
        # Punctuation behind a pronoun has no row here without it.
        index = axis.index_of(default) if at is None or axis.index_of(at) is None else axis.index_of(at)
        assert index is not None, "the default has a row"
        names = {group[0]: name for name, group in zip(axis.labels, axis.groups, strict=True)}
        group = axis.groups[index]
        rows = of_pronoun if set(group) <= set(of_pronoun) else group
        shown = display_token(names[group[0]])
        another = "" if at is not None else _why_another(sides, site, side.number, other, shown)
        note = another or _why_a_part(side.trace, site, group[0], len(rows)) if side.number == 0 else another
        found.append(Query(names, group[0], rows, note, bool(another)))
    return found


def _chosen_row(side: Side, site: str) -> int | None:
    """The row that a person has chosen of a sentence, if it has that."""
    row = state.position(TOKEN_FIELDS[side.number], len(side.trace.row_names(site)), -1)
    return None if row < 0 else row


#: Of the first and of the second sentence: why its query is not the word in the place of the other's.
_NO_TWIN: Final = (
    said("The first sentence has no word that corresponds to “{word}”; “{query}” is shown instead."),
    said("The second sentence has no word that corresponds to “{word}”; “{query}” is shown instead."),
)


def _why_another(sides: Sequence[Side], site: str, number: int, other: int | None, shown: str) -> str:
    """Why a sentence is looked at from its default query, where a person has chosen a word; "" where nobody has.

    `other`: the row that is chosen in the other sentence; `shown`: the default.
    """
    if other is not None:
        trace = sides[1 - number].trace
        word = texts.words_of_cell(trace, site, other, 0)[0]
        name = display_token(trace.row_names(site)[other]) if word is None else texts.name_of(trace, word)
        return _(_NO_TWIN[number], word=name, query=shown)
    trace = sides[number].trace
    looking = words.chosen_in(trace)[0] if number == 0 and not state.current().coreference.pair else ()
    if not looking:
        return ""
    message = "“{word}” is not a query of this attention; “{query}” is shown instead."
    return _(message, word=texts.name_of(trace, looking[0]), query=shown)


def _why_a_part(trace: "Trace", site: str, at: int, num_rows: int) -> str:
    """Why the query is only a part of the words that a person has chosen; "" where it is all of them."""
    looking = () if state.current().coreference.pair else words.chosen_in(trace)[0]
    rows = texts.rows_of_word(trace, site, looking[0]) if looking else ()
    if at not in rows:
        return ""
    word, sentences = texts.name_of(trace, looking[0]), []
    if len(looking) > 1:
        sentences.append(
            _("Of the {count} words chosen, the first is the query: “{word}”.", count=len(looking), word=word)
        )
    if num_rows < len(rows):
        sentences.append(_("Whole words are off: the query is only the first token of “{word}”.", word=word))
    return in_a_row(sentences)


def _row_beside(sides: Sequence[Side], own: Sequence[Positions], number: int, site: str, row: int) -> int | None:
    """The row of the other sentence that stands for the word in the place of this one's; None where there is none."""
    if row in own[number] and own[1 - number]:
        return own[1 - number][-1]
    return texts.row_beside(sides[number].trace, sides[1 - number].trace, site, row)


def places(sides: Sequence[Side], number: int, tokens: Sequence[int], *, is_source: bool) -> list[Place]:
    """The place of some tokens of the first or the second sentence, and that of their words' twins in the other."""
    own, other = sides[number].trace, sides[1 - number].trace
    known, others, twin_of = texts.words(own), texts.words(other).groups, texts.twins(own, other)
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
    twin_of, others = texts.twins(side.trace, other), texts.words(other).groups
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
    """Look from a word of one sentence, and from its twin in the other; from the pronouns again without one."""
    looking, trace = chosen[0][0] if chosen[0] else None, sides[number].trace
    row = None if looking is None else texts.cell_of_word(trace, site, looking)[0]
    state.change(**{TOKEN_FIELDS[number]: row, TOKEN_FIELDS[1 - number]: None})
    if not state.current().coreference.pair:
        first = looking if number == 0 or looking is None else texts.twins(trace, sides[0].trace).get(looking)
        state.change(from_words=() if first is None else (first,), to_words=(), key_token=None)
