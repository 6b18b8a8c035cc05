"""A value of a widget that cannot exist never reaches Streamlit, and costs the log one line."""

import logging

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from viz.server import scripts
from viz.server.widgets import ForgedWidgets, without_forged

REAL = (
    WidgetState(id="$$ID-0123-text", string_value="{"),
    WidgetState(id="$$ID-0123-None", trigger_value=True),
    WidgetState(id="$$ID-0123-heads", json_value='{"a": 1}'),
    WidgetState(id="$$STREAMLIT_INTERNAL_KEY_$$ID-0123-heads__events", json_trigger_value="[]"),
)
FORGED = (
    WidgetState(id="x" * 500, string_value="a"),
    WidgetState(id="a\nb", trigger_value=True),
    WidgetState(id="", json_value="{}"),
    WidgetState(id="$$ID-0123-heads", json_value="{"),
    WidgetState(id="$$ID-0123-heads", json_trigger_value="[" * 100_000),
)


def message(*states: WidgetState) -> bytes:
    asked = BackMsg()
    asked.rerun_script.query_string = "layer=1"
    asked.rerun_script.widget_states.widgets.extend(states)
    return bytes(asked.SerializeToString())


def test_what_a_page_sends_passes_byte_for_byte(caplog: pytest.LogCaptureFixture) -> None:
    for content in (message(*REAL), message(), b"", b"\xff\xff"):
        assert without_forged(content) is content
    assert not caplog.records


@pytest.mark.parametrize("forged", FORGED, ids=lambda state: f"{state.id[:20]!r} {state.WhichOneof('value')}")
def test_a_forged_value_goes_and_everything_else_stays(forged: WidgetState, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert without_forged(message(*REAL[:2], forged, *REAL[2:])) == message(*REAL)
    assert [len(record.getMessage().splitlines()) for record in caplog.records] == [1]
    assert len(caplog.records[0].getMessage()) < 150


def test_many_forged_values_of_a_message_share_a_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert without_forged(message(*FORGED, *FORGED)) == message()
    assert [record.getMessage()[:30] for record in caplog.records] == ["Dropped forged widget values: "]
    assert f": {2 * len(FORGED)}," in caplog.records[0].getMessage()


def test_a_web_socket_hands_on_what_is_left() -> None:
    async def echo(scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "bytes": (await receive())["bytes"]})

    with TestClient(ForgedWidgets(echo)).websocket_connect("/") as socket:
        socket.send_bytes(message(FORGED[0], REAL[0]))
        assert socket.receive_bytes() == message(REAL[0])


def test_the_server_reads_messages_through_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_is_served", False)
    from app import app

    used: set[object] = {middleware.cls for middleware in app._user_middleware}
    assert ForgedWidgets in used
