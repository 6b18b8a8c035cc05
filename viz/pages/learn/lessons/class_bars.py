"""Ask a class the question of a step: begin and end the count, and show the answers as bars."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from viz.selection import state
from viz.server import viewers
from viz.server.class_answers import CLASSES
from viz.text.messages import _, plural
from viz.ui import frame
from viz.ui.controls import plain

#: Who asks sees new answers after so many seconds.
INTERVAL: Final = 2.0


def take(question: str, option: int) -> None:
    """Count this viewer's answer, where the address names a class; with 0 no longer."""
    if code := state.current().learn.classroom:
        CLASSES.answer(code, question, viewers.browser(), option)


def show(question: str, options: Sequence[str], *, has_answered: bool) -> None:
    """The button that begins or ends the count; the bars, for who began it and for who has answered.

    Args:
        question: names it.
        options: what can be answered, as text.
        has_answered: whether this viewer has.
    """
    code = state.current().learn.classroom
    if not code:
        if has_answered:
            # The answer is on the screen, and a small projector has no room for more.
            return
        st.button(
            _("Ask a class"), key="class-begin", icon=":material/group:", type="tertiary", on_click=_begin,
            help=_(
                "From now on the link and the QR code of this page count answers, without names. Bars show them. "
                "“End the count” forgets them, as does an hour without an answer."
            ),
        )  # fmt: skip
    elif not CLASSES.is_open(code):
        st.caption(_("The count of this class has ended: answers are no longer counted."))
    elif CLASSES.is_host(code, viewers.browser()):
        st.fragment(_bars, run_every=INTERVAL)(code, question, options)
        st.button(_("End the count"), key="class-end", icon=":material/stop:", type="tertiary", on_click=_end)
    elif has_answered:
        _bars(code, question, options)
    else:
        st.caption(_("Your answer is counted without your name."))


def _begin() -> None:
    state.choose(classroom=CLASSES.begin(viewers.browser()))


def _end() -> None:
    CLASSES.end(state.current().learn.classroom)
    state.choose(classroom="")


def _bars(code: str, question: str, options: Sequence[str]) -> None:
    counts = CLASSES.counts(code, question, len(options))
    total = sum(counts)
    with st.container(key="class-bars"):
        frame.caption(plural("{count} answer of the class", "{count} answers of the class", total))
        for option, count in zip(options, counts, strict=True):
            st.progress(count / max(total, 1), text=f"{plain(option)} · **{count}**")
