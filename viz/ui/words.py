"""The sentence in the head of a page as words that can be pointed at and chosen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import streamlit as st

from viz import theme
from viz.access import texts
from viz.pictures.component import Component
from viz.pictures.focus import FocusAxis, Roles, Side
from viz.pictures.payload import ANYTHING, CHOSEN, Text, read
from viz.selection import state
from viz.selection.selection import Selection
from viz.text.messages import said
from viz.text.written import display_word
from viz.ui import sentence

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace

COMPONENT: Final = Component("pictures/words/word_picker.js", "pictures/words/word_picker.css")
#: Of the words in the head of the page.
KEY: Final = "words"
#: The words that look and those that are looked at, counted through all lines.
Chosen = tuple[tuple[int, ...], tuple[int, ...]]
NOTHING: Final[Chosen] = ((), ())


@dataclass(frozen=True, slots=True)
class WordMark:
    """What a word is in its sentence."""

    word: int  #: counted in its line
    name: Text  #: what it is called
    #: colour, line: of the line below the word, for CSS.
    colour: str
    line: str
    doubt: Text  #: why there is a question mark behind it; "" where there is none


@dataclass(frozen=True, slots=True)
class WordHeads:
    """The heads that tint the words of a page on which no picture has one open."""

    address: str  #: of their tiles (`viz.ui.trace_tables`), which say by which tokens they are known
    site: str  #: which attention
    #: layer, head: the open one.
    layer: int = 0
    head: int = 0


@dataclass(frozen=True, slots=True)
class WordLine:
    """A text as words."""

    mark: str  #: what it is
    language: str  #: its language; "" if nobody knows
    words: Sequence[Annotated[str, display_word]]  #: as shown; they are counted through all lines
    pieces: tuple[int, ...]  #: of each word that is marked as rare, how many it is broken into; 0 for others
    axis: FocusAxis  #: the tokens of each word
    roles: Roles = ()  #: runs of words that are of one role of a chat: role, first word, end
    marks: Sequence[WordMark] = ()  #: what some words are
    #: the tokens of each word's twin in a sentence beside this one; None where there is no such sentence.
    twins: FocusAxis | None = None


#: What a person can do with a word.
_HOW: Final = said(
    "Point at a word to see what the open head attends to from it; click two words to find the heads that link them. "
    "Shift+click, or a long press, adds a word."
)


@dataclass(frozen=True, slots=True)
class Words:
    """The lines, and what is chosen of them."""

    lines: Sequence[WordLine]  #: of one sentence
    chosen: Annotated[Chosen, CHOSEN]  #: the words that are marked as chosen
    #: the words that look as long as a person neither points at any nor has chosen one.
    resting: Annotated[tuple[int, ...], CHOSEN] = ()
    #: what tints the words; None where that is the head that the page has open.
    heads: Annotated[WordHeads | None, CHOSEN] = None
    is_proposed: Annotated[bool, CHOSEN] = False  #: whether the page marks these words, and no person has chosen any
    is_single: bool = False  #: whether one word can be chosen, and no second one
    how: Text = _HOW  #: what a person can do with a word
    kept_colour: str = theme.ORANGE


@dataclass(frozen=True, slots=True)
class _Picked:
    looking: tuple[int, ...]
    looked_at: tuple[int, ...]


#: Of a text with more words a cell of the open head is kept instead.
MAX_WORDS: Final = 1_000


def read_chosen(value: object, lines: Sequence[WordLine]) -> Chosen | None:
    """The words that the browser says are chosen, if they exist: none, those that look, or both sides.

    Words of one side are of one line.
    """
    line_of = [number for number, line in enumerate(lines) for _word in line.words]
    picked = read(_Picked, value, looking=range(len(line_of)), looked_at=range(len(line_of)))
    if picked is None or (picked.looked_at and not picked.looking):
        return None
    sides = picked.looking, picked.looked_at
    is_apart = any(len({line_of[word] for word in side}) > 1 or len(set(side)) < len(side) for side in sides)
    return None if is_apart else sides


def show(
    trace: "Trace", head: "DeltaGenerator", chosen: Chosen, on_choose: Callable[[Chosen], object], *, is_proposed: bool
) -> None:
    """What the model read and what it wrote, in the head of the page, as words where it has some.

    `is_proposed`: whether the page chose the words that are marked, and no person.
    """
    lines = word_lines(trace)
    if not lines:
        sentence.show(trace, head)
        return
    with head:
        word_picker(Words(lines, chosen, is_proposed=is_proposed), on_choose=on_choose, key=KEY)
    sentence.show_cautions(trace, head)


def chosen_in(trace: "Trace", selection: Selection | None = None) -> Chosen:
    """The words that a person, or another selection, has chosen, of one side or both, if this text has them."""
    chosen, known = (selection or state.current()).common, texts.words(trace)
    sides = chosen.from_words, chosen.to_words
    exist = all(word < len(known.labels) for side in sides for word in side) and bool(sides[0])
    return sides if exist and all(len(set(map(known.is_source, side))) <= 1 for side in sides) else NOTHING


def word_picker(words: Words, *, on_choose: Callable[[Chosen], object], key: str) -> None:
    """Show the words; `on_choose` is called before the next run, with those that a person has chosen."""

    def take(value: object) -> None:
        if (serial := read(int, value, serial=ANYTHING)) is not None:
            st.session_state[f"{key}/heard"] = serial
        if (chosen := read_chosen(value, words.lines)) is not None:
            on_choose(chosen)

    COMPONENT.show(words, key=key, more={"heard": heard(key)}, chosen=take)


def heard(key: str = KEY) -> int:
    """The browser's number of the last choice that came from it: answers say it, and older ones are not shown."""
    serial: int = st.session_state.get(f"{key}/heard", 0)
    return serial


def word_lines(trace: "Trace") -> list[WordLine]:
    """The lines of `viz.ui.sentence` in words as `word_links` counts them; none where a line has no words, all have too
    many, or a word of the text goes on in what was written.
    """
    known, shown = texts.words(trace), sentence.lines_of(trace)
    sides: list[tuple[Side, slice]] = [("source", slice(known.num_source)), ("target", slice(known.num_source, None))]
    if not known.num_source and len(shown) == len(sides) and not trace.roles:
        # A model that writes on: its text, and what it wrote.
        if any(group[0] <= trace.rows_before < group[-1] for group in known.groups):
            return []
        given = sum(group[0] <= trace.rows_before for group in known.groups)
        sides = [("target", slice(given)), ("target", slice(given, None))]
    lines = [
        (known.labels[part], FocusAxis(side, groups=known.groups[part])) for side, part in sides if known.labels[part]
    ]
    if len(known.labels) > MAX_WORDS or len(lines) != len(shown):
        return []
    if trace.roles:
        return [_chat_line(trace, shown[0].mark, known)]
    return [_word_line(line, *known_line) for line, known_line in zip(shown, lines, strict=True)]


def _chat_line(trace: "Trace", mark: str, known: texts.Words) -> WordLine:
    axis = FocusAxis("source" if known.num_source else "target", groups=known.groups)
    return WordLine(mark, "", known.labels, (0,) * len(known.labels), axis, texts.chat_spans(trace, known))


def _word_line(line: sentence.Line, labels: tuple[str, ...], axis: FocusAxis) -> WordLine:
    typed = tuple(line.text.split())
    # What was typed, where the model has the same words: in its pieces rare signs stand as bytes.
    words = typed if len(typed) == len(labels) else labels
    return WordLine(line.mark, line.language, words, tuple(line.rare.pieces.get(label, 0) for label in labels), axis)
