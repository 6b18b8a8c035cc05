"""What a person has chosen in a session, choice by choice, to be undone and done again, and the sentences they read.

A change that a page makes by itself is not a choice: what it proposes is left out, and what it corrects when it opens
becomes part of the choice that led there (`History.absorbed`). The browser's Back and Forward are none either: they
move along the choices, as undo does (`History.led_to`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from viz.selection.selection import FIELDS, Section, Selection
from viz.selection.url import is_seen

MAX_CHOICES: Final = 50
MAX_SENTENCES: Final = 20
#: Changes of one number that follow one another faster are one choice: a slider that moves, a film that plays.
SECONDS: Final = 1.5
#: Numbers that name what a person clicks, one after the other.
_CLICKED: Final = frozenset({"layer", "head", "token", "key_token"})
#: The words of other pages that a step chooses.
_OF_STEP: Final = frozenset({"from_words", "to_words", "token", "key_token"})
#: Ways to look at a page, and no choices on it.
WAYS: Final = ("presented", "screen", "story", "language", "collection", "pin")
_LEFT_OUT: Final = {*WAYS} | {field.chosen_in for field in FIELDS.values()}


@dataclass(frozen=True, slots=True)
class Choice:
    """What held after a choice."""

    selection: Selection  #: all of it
    page: str  #: on which it was made
    seconds: float  #: when, by any clock


@dataclass(frozen=True, slots=True)
class History:
    """The choices, of which the one at `at` holds; those after it were undone. There is always one, the beginning."""

    choices: tuple[Choice, ...]
    at: int = 0

    @classmethod
    def begun(cls, selection: Selection, page: str) -> Self:
        """The history of a session that opens with this selection."""
        return cls((Choice(selection, page, 0.0),))

    @property
    def now(self) -> Choice:
        """The choice that holds."""
        return self.choices[self.at]

    def noted(self, selection: Selection, page: str, seconds: float) -> Self:
        """With what holds now, if a person changed it: what had been undone is gone then."""
        changed = changed_fields(self.now.selection, selection)
        if not changed:
            return self
        past = self.choices[: self.at + 1]
        if self.at and _goes_on(self.choices[self.at - 1].selection, self.now, changed, seconds):
            past = past[:-1]
        choices = (*past, Choice(selection, page, seconds))[-MAX_CHOICES:]
        return replace(self, choices=choices, at=len(choices) - 1)

    def absorbed(self, selection: Selection) -> Self:
        """With what a page made of the choice that holds."""
        if not changed_fields(self.now.selection, selection):
            return self
        choices = list(self.choices)
        choices[self.at] = replace(self.now, selection=selection)
        return replace(self, choices=tuple(choices))

    def led_to(self, selection: Selection, page: Section) -> Self:
        """With the nearest choice after which the page looked the same, if any; what was chosen on other pages stays.

        So the browser's Back and Forward go along the choices.
        """
        same = [
            at
            for at, choice in enumerate(self.choices)
            if not any(is_seen(selection, name, page) for name in changed_fields(choice.selection, selection))
        ]
        if not same:
            return self
        return replace(self, at=min(same, key=lambda at: abs(at - self.at))).absorbed(selection)

    def moved(self, by: int) -> Self:
        """So many choices undone (below 0) or done again, as far as there are any."""
        return replace(self, at=min(max(0, self.at + by), len(self.choices) - 1))

    def page_from(self, before: Self) -> str:
        """The page on which the choice was made that has been undone, or done again, since `before`: another place."""
        return self.choices[self.at if self.at > before.at else self.at + 1].page


def remembered(sentences: tuple[str, ...], text: str) -> tuple[str, ...]:
    """The sentences of a session with one more, the newest first, each once."""
    if not text.strip():
        return sentences
    return (text, *(other for other in sentences if other != text))[:MAX_SENTENCES]


def _goes_on(before: Selection, last: Choice, changed: set[str], seconds: float) -> bool:
    """Whether a change of these fields goes on with the last choice, before which `before` held."""
    changed, by_last = (
        names - _OF_STEP if "step" in names else names for names in (changed, changed_fields(before, last.selection))
    )
    are_moved = all(FIELDS[name].kind in (int, int | None) and name not in _CLICKED for name in changed)
    is_one = len(changed) == 1 and by_last == changed
    return are_moved and is_one and seconds - last.seconds < SECONDS


def changed_fields(before: Selection, after: Selection) -> set[str]:
    """The choices in which they differ; what a page proposes does not count."""
    first, second = chosen_values(before), chosen_values(after)
    return {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}


def chosen_values(selection: Selection) -> Mapping[str, object]:
    """What a person has chosen."""
    return {
        name: selection.value(name)
        for name, field in FIELDS.items()
        if name not in _LEFT_OUT and (not field.chosen_in or selection.value(field.chosen_in))
    }
