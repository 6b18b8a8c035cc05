"""Show the buttons of a page's head, with their keys: undo, redo, pin, and the switch for a projector."""

from collections.abc import Callable, Mapping

import streamlit as st

from viz.components.declare import declare
from viz.core import payload
from viz.core.widget_values import sent, sent_number

_COMPONENT = declare("components/head_tools/head_tools.js", "components/head_tools/head_tools.css")
_KEY = "head-tools"
#: Of the buttons that pressed undo last, their name and how often they did.
_HEARD = "head-tools/heard"


def read_total(value: object) -> tuple[str, int] | None:
    """Which buttons the browser speaks of, and how many choices they have undone in all, those done again taken off."""
    if not isinstance(value, Mapping):
        return None
    name, total = value.get("name"), value.get("total")
    return (name, total) if isinstance(name, str) and type(total) is int else None


def new_steps(heard: tuple[str, int] | None, told: tuple[str, int]) -> int:
    """How many choices are to be undone (below 0: done again) beyond those that were heard of."""
    return told[1] - (heard[1] if heard is not None and heard[0] == told[0] else 0)


def head_tools(
    *,
    is_presented: bool,
    is_pinned: bool,
    on_undo: Callable[[int], None],
    on_pin: Callable[[], None],
    on_present: Callable[[bool], None],
) -> None:
    """The buttons.

    Args:
        is_presented: whether a projector shows the page; then only the way back is offered.
        is_pinned: whether this view is in the collection already.
        on_undo: called with how many choices are to be undone, below 0 to be done again; before the next run, as are
            those that follow.
        on_pin: for the view that is shown.
        on_present: with whether the page is to be presented.
    """

    heard: tuple[str, int] | None = st.session_state.get(_HEARD)

    def undo() -> None:
        told = read_total(sent(_KEY, "undo"))
        if told is not None:
            steps = new_steps(st.session_state.get(_HEARD), told)
            st.session_state[_HEARD] = told
            if steps:
                on_undo(steps)

    def present() -> None:
        if (number := sent_number(0, 1, _KEY, "present")) is not None:
            on_present(number == 1)

    _COMPONENT(
        data=payload.pack({"isPresented": is_presented, "isPinned": is_pinned, "heard": heard}),
        key=_KEY,
        width="content",
        on_undo_change=undo,
        on_pin_change=on_pin,
        on_present_change=present,
    )
