"""Remove branches, and bring them back."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from viz.pages.decoding import translations
from viz.pages.decoding.branch_codes import without
from viz.selection import state
from viz.selection.selection import Selection

_REMOVED: Final = "decoding/removed"


@dataclass(frozen=True, slots=True)
class Removed:
    """What the branches were before some were removed.

    `after` are the codes that were left; `count` branches went with branch `number`, itself included.
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
    shown = before.decoding.branch
    while shown not in number_of:
        shown = made[shown - 1].parent
    against = None if before.decoding.compared_branch is None else number_of.get(before.decoding.compared_branch)
    state.change(branches=translations.codes_of(kept), compared_branch=against)
    st.session_state[_REMOVED] = Removed(before, translations.codes_of(kept), number, len(made) - len(kept))
    # Where the branch left the other one, that one has a step as well.
    step = before.decoding.step if shown == before.decoding.branch else min(before.decoding.step, made[number - 1].step)
    translations.go(number_of[shown], step)


def removed() -> Removed | None:
    """What was removed last, as long as it can be brought back: no other branch was made or removed since."""
    last: Removed | None = st.session_state.get(_REMOVED)
    now = state.current()
    if last is None or last.after != now.decoding.branches:
        return None
    before = last.before
    is_same = (before.common.text, before.model) == (now.common.text, now.model)
    return last if is_same else None


def bring_back() -> None:
    """Undo the last removal."""
    last = removed()
    if last is not None:
        del st.session_state[_REMOVED]
        before = last.before.decoding
        state.change(branches=before.branches, compared_branch=before.compared_branch)
        translations.go(before.branch, before.step)
