"""Ask a class: who begins it sees bars of its answers, counted without names (`viz/server/class_answers.py`)."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from viz.selection import state
from viz.server import viewers
from viz.server.class_answers import classes
from viz.text.messages import _, plural
from viz.ui import frame
from viz.ui.controls import plain

#: Who asks sees new answers after so many seconds.
INTERVAL: Final = 2.0


def ask(question: str, options: Sequence[str], *, has_answered: bool) -> None:
    """The button that begins or ends the count; the bars, for who began it and for who has answered."""
    code = state.current().learn.classroom
    if not code:
        if has_answered:
            # The answer is on the screen, and a small projector has no room for more.
            return
        st.button(
            _("Ask a class"), key="class-begin", icon=":material/group:", type="tertiary", on_click=_begin,
            help=_(
                "From now on, answers given through the link or the QR code of this page are counted, without names, "
                "and shown as bars. “End the count” deletes them; so does an hour without an answer."
            ),
        )  # fmt: skip
    elif not classes().is_open(code):
        frame.caption("Counting for this class has ended: answers are no longer counted.")
    elif classes().is_host(code, viewers.browser()):
        st.fragment(_bars, run_every=INTERVAL)(code, question, options)
        st.button(_("End the count"), key="class-end", icon=":material/stop:", type="tertiary", on_click=_end)
    elif has_answered:
        _bars(code, question, options)
    else:
        frame.caption("Your answer is counted without your name.")


def _begin() -> None:
    state.choose(classroom=classes().begin(viewers.browser()))


def _end() -> None:
    classes().end(state.current().learn.classroom)
    state.choose(classroom="")


def count(question: str, options: Sequence[str], chosen: int) -> None:
    """Count in the class, if there is one, what a viewer chose otherwise than by a press, from 1, 0 for nothing yet.

    The bars are for who began it and for whose choice is counted.
    """
    code, viewer = state.current().learn.classroom, viewers.browser()
    if not code or not classes().is_open(code):
        return
    if chosen:
        classes().answer(code, question, viewer, chosen)
    if classes().is_host(code, viewer):
        st.fragment(_bars, run_every=INTERVAL)(code, question, options)
    elif chosen:
        _bars(code, question, options)


def _bars(code: str, question: str, options: Sequence[str]) -> None:
    counts = classes().counts(code, question, len(options))
    total = sum(counts)
    with st.container(key=f"class-bars-{question.replace('/', '-')}"):
        frame.caption(plural("{count} answer of the class", "{count} answers of the class", total))
        for option, count in zip(options, counts, strict=True):
            st.progress(count / max(total, 1), text=f"{plain(option)} · **{count}**")
