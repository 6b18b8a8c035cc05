"""Branches removed, and brought back. Knows nothing of what a branch is."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from viz.pages.decoding import translations
from viz.pages.decoding.branch_codes import without
from viz.selection import state
from viz.selection.options import Selection

_REMOVED: Final = "studio/removed"


@dataclass(frozen=True, slots=True)
class Removed:
    """What the branches were before some were removed.

    Attributes:
        before: the selection then.
        after: the codes that were left.
        number, count: the branch that was removed, and how many went with it, itself included.
    """

    before: Selection
    after: tuple[str, ...]
    number: int
    count: int


def remove(number: int) -> None:
    """Remove a branch with all that leave it. `bring_back` undoes it: nothing is computed again."""
    made = translations.choices()
    if not 1 <= number <= len(made):
        return
    before = state.current()
    kept, number_of = without(made, number)
    shown = before.branch
    while shown not in number_of:
        shown = made[shown - 1].parent
    against = None if before.against is None else number_of.get(before.against)
    state.change(branches=translations.codes_of(kept), against=against)
    st.session_state[_REMOVED] = Removed(before, translations.codes_of(kept), number, len(made) - len(kept))
    # Where the branch left the other one, that one has a step as well.
    step = before.step if shown == before.branch else min(before.step, made[number - 1].step)
    translations.go(number_of[shown], step)


def removed() -> Removed | None:
    """What was removed last, as long as it can be brought back: no other branch was made or removed since."""
    found: Removed | None = st.session_state.get(_REMOVED)
    now = state.current()
    if found is None or found.after != now.branches:
        return None
    return found if (found.before.text, found.before.checkpoint) == (now.text, now.checkpoint) else None


def bring_back() -> None:
    """Undo the last removal."""
    found = removed()
    if found is not None:
        del st.session_state[_REMOVED]
        state.change(branches=found.before.branches, against=found.before.against)
        translations.go(found.before.branch, found.before.step)
