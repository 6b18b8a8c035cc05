"""The selection of a session: read from the URL, shown by widgets, changed by them, written back into the URL.

    URL ──parse──▶ Selection ──▶ widgets (seeded before they are drawn)
     ▲                 │ ▲
     └────publish──────┘ └────take──── a widget was changed

The `Selection` is the truth; a widget only shows one of its fields and hands back a change through `take`. So a
choice survives a change of page, a link reopens the view, and a wrong value in a link becomes the default. Knows
nothing of models.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from viz.selection import catalogue
from viz.selection.options import MARKS, OTHER_MARKS, Selection
from viz.selection.url import parse, to_params

_SELECTION: Final = "selection"
_MISSING: Final = "state/missing"
#: Branches belong to one translation.
_NO_BRANCHES: Final[dict[str, Any]] = {"branches": (), "branch": 0, "against": None, "node": None}


def begin(checkpoints: Sequence[str]) -> None:
    """Take the selection from the URL if it is news, at the start of a run; a checkpoint not listed becomes the first.

    The URL is news when a session begins and when the browser goes back or forward. In every other run it is what
    `publish` wrote, or lags behind it: clicks that follow fast bring the URL of the run before with them.
    """
    stored: Selection | None = st.session_state.get(_SELECTION)
    context = get_script_run_ctx()
    if stored is None or (context is not None and context.is_history_navigation):
        picture = "" if stored is None else stored.picture
        stored = replace(parse(st.query_params.to_dict(), stored or Selection()), picture=picture)
    if stored.checkpoint and stored.checkpoint not in checkpoints:
        st.session_state[_MISSING] = stored.checkpoint
        stored = replace(stored, checkpoint="")
    if not stored.checkpoint and checkpoints and not catalogue.server_models():
        # Without a name it is the server's first; where there is none, what the list shows first must be named.
        stored = replace(stored, checkpoint=checkpoints[0])
    put(stored)


def take_missing() -> str:
    """The model that the address asked for and that is not on the list, once; "" if there was none."""
    return str(st.session_state.pop(_MISSING, ""))


def current() -> Selection:
    """The selection of this session."""
    selection: Selection = st.session_state[_SELECTION]
    return selection


def put(selection: Selection) -> None:
    """Make this the selection, before the widgets that show it are drawn."""
    folder = catalogue.folder_of(selection.checkpoint) if selection.checkpoint else ""
    st.session_state[_SELECTION] = selection if selection.folder == folder else replace(selection, folder=folder)


def change(**fields: object) -> None:
    """Change these fields of the selection, and leave the others."""
    changes: dict[str, Any] = dict(fields)
    put(replace(current(), **changes))


def bind(field: str, shown: object = None) -> str:
    """The key of the widget that shows a field, once its value is set; to be passed with `on_change=take`.

    Args:
        field: the field of the selection.
        shown: what to show instead of the field's value, where that leaves the choice to the page.
    """
    value = getattr(current(), field) if shown is None else shown
    st.session_state[field] = list(value) if isinstance(value, tuple) else value
    return field


def position(field: str, count: int, default: int) -> int:
    """A chosen position among `count`, or the default; one that is out of range is forgotten."""
    chosen: int | None = getattr(current(), field)
    if chosen is not None and chosen < count:
        return chosen
    nothing: dict[str, Any] = {field: None}
    put(replace(current(), **nothing))
    return default


def take(field: str) -> None:
    """A person changed a widget: its value becomes the selection's. With a text go the tokens chosen in it."""
    value = st.session_state[field]
    changes: dict[str, Any] = {field: tuple(value) if isinstance(value, list) else value}
    if field in ("text", "site", "checkpoint"):
        changes |= {"token": None, "key_token": None, "window": None, "step": 0}
    if field in ("text", "checkpoint"):
        changes |= _NO_BRANCHES
    if field in ("other", "site", "checkpoint"):
        changes |= {"other_token": None}
    changes |= _of_the_pair(field)
    put(replace(current(), **changes))


def _of_the_pair(field: str) -> dict[str, Any]:
    """What becomes of the compared pair: marks belong to a text, rows to marks, and whoever types wants to see that."""
    if field in ("text", "other"):
        return {"pair": "", **dict.fromkeys(MARKS if field == "text" else OTHER_MARKS)}
    if field == "pair":
        return {"token": None, "other_token": None}
    if field in (MARKS[0], OTHER_MARKS[0]):
        return {"token" if field == MARKS[0] else "other_token": None}
    return {}


def take_model(name: str) -> None:
    """Another model was chosen elsewhere than in its list: what was chosen in the one before goes."""
    change(checkpoint=name, token=None, key_token=None, other_token=None, window=None, step=0, **_NO_BRANCHES)


def take_example(text: str, twin: str) -> None:
    """An example was picked: both sentences change."""
    change(text=text, other=twin, token=None, other_token=None, key_token=None, step=0, **_NO_BRANCHES)
    change(pair="", **dict.fromkeys((*MARKS, *OTHER_MARKS)))


def take_sentence(text: str) -> None:
    """A sentence was picked elsewhere: it alone changes, with what was chosen in the one before."""
    put(replace(current(), text=text, token=None, key_token=None, window=None, step=0, **_NO_BRANCHES))


def publish() -> None:
    """Write the selection into the URL, at the end of a run."""
    params = to_params(current())
    if st.query_params.to_dict() != params:
        st.query_params.from_dict(params)
