"""An edit of a head that is tried on a translation, and not kept."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from viz.pages.decoding import translations
from viz.pages.decoding.data import branches
from viz.selection.branch_codes import Choice, EditHead, Path, origin_of, path_of
from viz.text.messages import _

if TYPE_CHECKING:
    from model import Trace


@dataclass(frozen=True, eq=False, kw_only=True)
class Tried:
    """An edit that is tried and not kept: the branch that it would be, the path and trace of its parent, its trace.

    `log_prob` is that of the original's token at the step, under the edit.
    """

    choice: Choice
    before: Path
    original: "Trace"
    edited: "Trace"
    log_prob: float


def try_edit(made: tuple[Choice, ...], base: int, step: int, action: EditHead) -> Tried:
    """What becomes of a branch, `base`, by an edit at a step. Raises what growing it raises."""
    origin = origin_of(made, base, step, action)
    before = path_of(made, origin)
    path = (*before, (step, action))
    with st.spinner(_("Translating under the edit …"), show_time=True):
        original = translations.looked_at_along(before, "trace-before")
        edited = translations.looked_at_along(path, "trace-edited")
        log_prob = branches.log_prob(*translations.source(), path, step, original.steps[step].token_id)
    choice = Choice(origin, step, action)
    return Tried(choice=choice, before=before, original=original, edited=edited, log_prob=log_prob)
