"""Drop from a browser's messages the widget values that no page of ours can have sent, before Streamlit reads them.

Streamlit 1.67 keeps a value under any id and any text as JSON; it then fails in every later run of that session, each
time with a traceback of some eighty lines in the log. Here such a value costs one line. What a widget that exists may
be sent is checked where it is used (`viz/server/widget_values.py`).
"""

import json
import logging
from typing import Final

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import GENERATED_ELEMENT_ID_PREFIX
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX

_PREFIXES: Final = (GENERATED_ELEMENT_ID_PREFIX, STREAMLIT_INTERNAL_KEY_PREFIX)
_JSON: Final = ("json_value", "json_trigger_value")
#: Characters of an id that the log repeats.
_SHOWN: Final = 60
_LOG: Final = logging.getLogger(__name__)


class ForgedWidgets:
    """ASGI middleware: what a WebSocket receives comes without forged widget values."""

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
    """A browser's message without the values of widgets that cannot exist, which the log names in one line."""
    message = BackMsg()
    try:
        message.ParseFromString(content)
    except DecodeError:
        return content  # Streamlit says what is wrong with it.
    widgets = message.rerun_script.widget_states.widgets
    forged = [state.id for state in widgets if not _can_exist(state)]
    if not forged:
        return content
    kept = [state for state in widgets if _can_exist(state)]
    del widgets[:]
    widgets.extend(kept)
    _LOG.log(
        logging.WARNING, "Dropped forged widget values: %d, the first with the id %.*r", len(forged), _SHOWN, forged[0]
    )
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
