"""Show a text and its translation as words, of which a person chooses one that looks, and one looked at.

Which heads link the two is asked below the words, where the script of the question marks them as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from viz import theme
from viz.pictures.component import Component
from viz.pictures.focus import FocusAxis, Roles
from viz.pictures.payload import CHOSEN, Tokens, read
from viz.text.token_text import display_word

_FOLDER: Final = "pages/attention/all_heads"
_WORDS: Final = Component(f"{_FOLDER}/word_picker.js", f"{_FOLDER}/word_picker.css")
_QUESTION: Final = Component(f"{_FOLDER}/link_question.js", f"{_FOLDER}/link_question.css")
#: A word that looks and the one that is looked at, counted through all lines; None for what is no word.
Chosen = tuple[int | None, int | None]
NOTHING: Final[Chosen] = (None, None)


@dataclass(frozen=True, slots=True)
class WordLine:
    """A text as words.

    Attributes:
        mark: what it is.
        language: its language; "" if nobody knows.
        words: as shown; they are counted through all lines.
        pieces: of each word that is marked as rare, how many it is broken into; 0 for others.
        axis: the tokens of each word.
        roles: runs of words that are of one role of a chat: role, first word, end.
    """

    mark: str
    language: str
    words: Sequence[Annotated[str, display_word]]
    pieces: tuple[int, ...]
    axis: FocusAxis
    roles: Roles = ()


@dataclass(frozen=True, slots=True)
class Words:
    """The lines, and the words that are marked as chosen."""

    lines: Sequence[WordLine]
    chosen: Annotated[Chosen, CHOSEN]
    kept_colour: str = theme.HEAD_COLOURS[1]


@dataclass(frozen=True, slots=True)
class _Picked:
    looking: int | None
    looked_at: int | None


def read_chosen(value: object, lines: Sequence[WordLine]) -> Chosen | None:
    """The words that the browser says are chosen, if they exist: none, the one that looks, or both."""
    words = range(sum(len(line.words) for line in lines))
    picked = read(_Picked, value, looking=words, looked_at=words)
    if picked is None or (picked.looking is None and picked.looked_at is not None):
        return None
    return picked.looking, picked.looked_at


def word_picker(words: Words, *, on_choose: Callable[[Chosen], object], key: str) -> None:
    """Show the words; `on_choose` is called before the next run, with those that a person has chosen."""

    def take(value: object) -> None:
        if (chosen := read_chosen(value, words.lines)) is not None:
            on_choose(chosen)

    _WORDS.show(words, key=key, chosen=take)


@dataclass(frozen=True, slots=True)
class LinkQuestion:
    """The question which heads link two words.

    Attributes:
        chosen: both words.
        asked: what both are called in the question; None where nothing is chosen.
        how: what a person can click.
    """

    chosen: Chosen
    asked: Tokens | None
    how: str
    kept_colour: str = theme.HEAD_COLOURS[1]


def link_question(question: LinkQuestion, *, key: str) -> None:
    """Show the question."""
    _QUESTION.show(question, key=key)
