"""What browsers say of widgets: read it, drop what is forged, and call callbacks to their end.

Streamlit 1.67 keeps a value under any id and any text as JSON; it then fails in every later run of that session, each
time with a traceback of some eighty lines in the log. Here such a value costs one line. So does one of another kind
than its widget has, or that its widget cannot read: that widget keeps what it had. What values mean is checked where
they are used.

Once another run waits, Streamlit 1.67 ends a run at its next use of `st.session_state`: also before it has called any
callback, and within one, which it then takes for done. The run that waits brings the values of fields, but neither a
press on a button nor what a component triggered. So a press was lost that another message followed within some 20 ms.

A part of a page that is drawn again by itself may ask for it just before another page opens. Streamlit 1.67 runs that
part after the other page, as a part of the old one; the browser then empties the new page, and nothing fills it.

A run of the whole page that waited for a run of a part is drawn by Streamlit 1.67 into the container of that part, as
the same thread goes on; there all parts of the page get other ids. Meanwhile a press in a part of the page as the
browser knows it was dropped, for no such part exists then.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Final

import streamlit as st
from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import _has_active_trigger_value
from streamlit.runtime.state import SafeSessionState
from streamlit.runtime.state.common import GENERATED_ELEMENT_ID_PREFIX, WidgetMetadata, unpack_widget_state_value
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX, Serialized, SessionState


def sent(key: str, *path: str) -> object:
    """The value that the browser sent for a widget, or the part of it at `path`; None if there is none."""
    value: object = st.session_state.get(key)
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def is_in_browser(key: str) -> bool:
    """Whether the message with which this run began had the widget, as it has every one that the browser has drawn."""
    context = get_script_run_ctx()
    if context is None:
        return False
    state = context.session_state._state
    return state._key_id_mapper.get_id_from_key(key, "") in state._new_widget_state


_PREFIXES: Final = (GENERATED_ELEMENT_ID_PREFIX, STREAMLIT_INTERNAL_KEY_PREFIX)
_JSON: Final = ("json_value", "json_trigger_value")
#: The most characters of an id in the log.
_SHOWN: Final = 60
_LOG: Final = logging.getLogger(__name__)


class ForgedWidgets:
    """ASGI middleware that removes forged widget values from what a WebSocket receives."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""

        async def checked() -> Message:
            message = await receive()
            if content := message.get("bytes"):
                message["bytes"] = without_forged(content)
            return message

        await self._app(scope, checked if scope["type"] == "websocket" else receive, send)


def without_forged(content: bytes) -> bytes:
    """A browser's message without the values of widgets that cannot exist; the log names them in one line."""
    message = BackMsg()
    try:
        message.ParseFromString(content)
    except DecodeError:
        return content  # Streamlit says what is wrong with it.
    widgets = message.rerun_script.widget_states.widgets
    forged = [state for state in widgets if not _can_exist(state)]
    if not forged:
        return content
    kept = [state for state in widgets if _can_exist(state)]
    del widgets[:]
    widgets.extend(kept)
    _say_dropped("forged", forged)
    return bytes(message.SerializeToString())


def _can_exist(state: WidgetState) -> bool:
    if not state.id.startswith(_PREFIXES):
        return False
    kind = state.WhichOneof("value")
    if kind not in _JSON:
        return True
    try:
        json.loads(getattr(state, kind))
    except (ValueError, RecursionError):
        return False
    return True


def _without_unreadable(session: SafeSessionState, sent_states: WidgetStates | None) -> WidgetStates | None:
    """The values of a message without those that a widget which exists cannot read; the log names them in one line."""
    if sent_states is None:
        return None
    known = session._state._new_widget_state.widget_metadata
    wrong = [state for state in sent_states.widgets if state.id in known and not _can_read(known[state.id], state)]
    if not wrong:
        return sent_states
    _say_dropped("unreadable", wrong)
    return WidgetStates(widgets=[state for state in sent_states.widgets if state not in wrong])


#: What a browser sends of a field for whole numbers, and the kind that Streamlit gives every field for numbers.
_WHOLE_NUMBER: Final = ("int_value", "double_value")
#: What a widget reads once alone: it takes files out of their store.
_WITH_FILES: Final = ("file_uploader_state_value", "chat_input_value")


def _can_read(known: WidgetMetadata[Any], state: WidgetState) -> bool:
    """Whether a widget can read a value, which has the kind of the widget's or is none."""
    kind = state.WhichOneof("value")
    if kind not in (None, known.value_type) and (kind, known.value_type) != _WHOLE_NUMBER:
        return False
    if kind in _WITH_FILES:
        return True
    try:
        known.deserializer(unpack_widget_state_value(state))
    except Exception:  # Streamlit's own, of whatever the value is taken for.
        return False
    return True


def _say_dropped(what: str, states: Sequence[WidgetState]) -> None:
    line = "Dropped %s widget values: %d, the first with the id %.*r"
    _LOG.log(logging.WARNING, line, what, len(states), _SHOWN, states[0].id)


def _is_of_a_person(asked: RerunData) -> bool:
    """Whether it is not only a part of a page that asks to be drawn again; such a request may have joined a press."""
    states = () if asked.widget_states is None else asked.widget_states.widgets
    return not asked.is_auto_rerun or any(map(_has_active_trigger_value, states))


def _is_no_time_to_end() -> None:
    """Do nothing, in place of ending the run for the one that waits."""


def run_to_their_end() -> None:
    """Patch Streamlit: values that their widgets cannot read are dropped; the run that waits begins when all callbacks
    of the run before it are done, and where a page begins; a part of a page that was left runs as a part of the page
    that is open; and where what was pressed is in a part that does not exist at that moment, the whole page runs.
    """
    given = SafeSessionState.on_script_will_rerun
    if hasattr(given, "__wrapped__"):
        return

    @wraps(given)
    def undisturbed(session: SafeSessionState, fresh: WidgetStates | None, *args: Any, **kwargs: Any) -> None:
        end_if_another_waits = session._yield_callback
        # It has no other attributes than those of its class: all others are the session's values.
        object.__setattr__(session, "_yield_callback", _is_no_time_to_end)
        try:
            given(session, _without_unreadable(session, fresh), *args, **kwargs)
        finally:
            object.__setattr__(session, "_yield_callback", end_if_another_waits)

    SafeSessionState.on_script_will_rerun = undisturbed  # type: ignore[method-assign, assignment]
    make = SessionState._set_widget_metadata

    @wraps(make)
    def make_or_drop(session: SessionState, known: WidgetMetadata[Any]) -> None:
        # A tab that comes back sends all values before anything is known of their widgets: no line for each.
        states = session._new_widget_state.states
        state = states.get(known.id)
        if isinstance(state, Serialized) and not _can_read(known, state.value):
            del states[known.id]
        make(session, known)

    SessionState._set_widget_metadata = make_or_drop  # type: ignore[method-assign, assignment]
    run_script = ScriptRunner._run_script

    @wraps(run_script)
    def on_its_page(runner: ScriptRunner, asked: RerunData) -> None:
        opened = runner._pages_manager.current_page_script_hash
        if asked.fragment_id_queue and opened and asked.page_script_hash != opened:
            # What it asks for is gone and is skipped.
            asked = replace(asked, page_script_hash=opened)
        elif _is_of_a_person(asked) and not all(map(runner._fragment_storage.contains, asked.fragment_id_queue)):
            asked = replace(asked, fragment_id_queue=[])
        context_dg_stack.set(get_default_dg_stack_value())
        run_script(runner, asked)

    ScriptRunner._run_script = on_its_page  # type: ignore[method-assign, assignment]
    # Whether there is such a part is asked when it is to run, not when a message comes.
    AppSession.has_fragment = lambda session, fragment_id: True  # type: ignore[method-assign, assignment]
