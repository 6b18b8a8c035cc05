"""Hold the selection of a session: read it from the address, bind widgets to it, and write it back into the address.

    address ──parse──▶ Selection ──▶ widgets (given their values before they are drawn)
       ▲                  │ ▲
       └─────publish──────┘ └────take──── a person changed a widget

The `Selection` is what holds; a widget only shows one of its fields and hands back a change through `take`. So a choice
survives a change of page, a link opens the same view again, and a wrong value in a link becomes the default.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from viz.selection import catalogue
from viz.selection.selection import Selection
from viz.selection.url import parse, to_params

Value = TypeVar("Value")

_SELECTION: Final = "selection"
_MISSING: Final = "selection/missing-model"


def begin(checkpoints: Sequence[str]) -> None:
    """Read the selection from a new address, at the start of a run; a checkpoint not listed becomes the first.

    An address is new when a session begins and when the browser goes back or forward. In every other run it is what
    `publish` wrote, or lags behind it: clicks that follow fast bring the address of the run before with them.
    """
    selection: Selection | None = st.session_state.get(_SELECTION)
    context = get_script_run_ctx()
    if selection is None or (context is not None and context.is_history_navigation):
        selection = parse(st.query_params.to_dict(), selection or Selection())
    checkpoint = selection.model.checkpoint
    if checkpoint and checkpoint not in checkpoints:
        st.session_state[_MISSING] = checkpoint
        checkpoint = ""
    if not checkpoint and checkpoints and not catalogue.server_models():
        # Without a name it is the server's first; where there is none, what the list shows first must be named.
        checkpoint = checkpoints[0]
    put(selection.changed(checkpoint=checkpoint))


def take_missing() -> str:
    """The model that the address asked for and that is not on the list, once; "" if there was none."""
    return str(st.session_state.pop(_MISSING, ""))


def current() -> Selection:
    """The selection of this session."""
    selection: Selection = st.session_state[_SELECTION]
    return selection


def value(field: str, kind: type[Value]) -> Value:
    """The value of a field that is known by its name only, which is of this type."""
    chosen = current().value(field)
    assert isinstance(chosen, kind), f"{field} is {chosen!r}, not of {kind}"
    return chosen


def put(selection: Selection) -> None:
    """Make this the selection, before the widgets that show it are drawn."""
    checkpoint = selection.model.checkpoint
    folder = catalogue.folder_of(checkpoint) if checkpoint else ""
    st.session_state[_SELECTION] = selection.changed(folder=folder)


def change(**values: object) -> None:
    """Change these fields of the selection, and leave the others."""
    put(current().changed(**values))


def choose(**values: object) -> None:
    """Change what a person chose; what belonged to the values before becomes its default again (`ResetBy`)."""
    put(current().chosen(**values))


def bind(field: str, shown: object = None) -> str:
    """The key of the widget that shows a field, once its value is set; to be passed with `on_change=take`.

    Args:
        field: the field of the selection.
        shown: what to show instead of the field's value, where that leaves the choice to the page.
    """
    value = current().value(field) if shown is None else shown
    st.session_state[field] = list(value) if isinstance(value, tuple) else value
    return field


def take(field: str) -> None:
    """A person changed the widget that shows a field: its value becomes the selection's."""
    value = st.session_state[field]
    choose(**{field: tuple(value) if isinstance(value, list) else value})


def position(field: str, count: int, default: int) -> int:
    """A chosen position among `count`, or the default; one that is out of range is forgotten."""
    chosen = current().value(field)
    if isinstance(chosen, int) and chosen < count:
        return chosen
    change(**{field: None})
    return default


def publish() -> None:
    """Write the selection into the address, at the end of a run."""
    params = to_params(current())
    if st.query_params.to_dict() != params:
        st.query_params.from_dict(params)
