"""A press is not lost where another run waits, and a value that cannot exist never reaches Streamlit."""

import ast
import logging
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner import RerunData, RerunException
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.state.common import WidgetMetadata

from tests.paths import ROOT
from viz.server import widgets
from viz.server.widgets import ForgedWidgets, sent, without_forged

PRESSED = WidgetStates(widgets=[WidgetState(id="widget", trigger_value=True)])


@pytest.fixture(autouse=True)
def _as_the_app() -> None:
    # As at the start of a run.
    ThreadState.initialize()
    for _ in range(2):
        widgets.run_to_their_end()


def make(state: SessionState, kind: Any, read: Callable[[Any], Any], heard: Callable[[], None]) -> None:
    """A widget of a kind of Streamlit's, as a run of a page makes it."""
    known = WidgetMetadata("widget", deserializer=read, serializer=str, value_type=kind, callback=heard)
    state._set_widget_metadata(known)


def cut_short() -> None:
    raise RerunException(RerunData())


def session_with(press: Callable[[SafeSessionState], None]) -> SafeSessionState:
    """A session in which another run waits from the beginning, and a button."""
    state = SessionState()
    session = SafeSessionState(state, cut_short)
    make(state, "trigger_value", bool, lambda: press(session))
    return session


def test_what_a_button_does_is_done_to_its_end_before_the_run_that_waits() -> None:
    def choose(session: SafeSessionState) -> None:
        session["head"] = 3
        session["heads"] = [session["head"]]

    session = session_with(choose)
    session.on_script_will_rerun(PRESSED)
    # And then the run that waits begins.
    with pytest.raises(RerunException):
        session["head"] = 4
    assert session.filtered_state == {"widget": True, "head": 3, "heads": [3]}


def test_after_an_error_in_a_callback_the_run_that_waits_begins_too() -> None:
    def fail(session: SafeSessionState) -> None:
        raise ValueError("no such layer")

    session = session_with(fail)
    with pytest.raises(ValueError, match="no such layer"):
        session.on_script_will_rerun(PRESSED)
    with pytest.raises(RerunException):
        session["head"] = 4


def session_of(kind: Any, deserializer: Callable[[Any], Any], heard: list[object]) -> SafeSessionState:
    """A session with a widget of a kind, which says what it was changed to."""
    state = SessionState()
    session = SafeSessionState(state, lambda: None)
    make(state, kind, deserializer, lambda: heard.append(session.filtered_state["widget"]))
    return session


@pytest.mark.parametrize(
    ("kind", "deserializer", "right", "wrong"),
    [
        ("string_value", str, {"string_value": "a"}, {"int_value": 3}),
        ("string_value", str, {"string_value": "a"}, {"json_value": "{}"}),
        ("double_value", int, {"double_value": 3.0}, {"double_value": float("nan")}),
        # As a browser sends a whole number.
        ("double_value", int, {"int_value": 3}, {"string_value": "3"}),
        ("int_value", int, {"int_value": 3}, {"string_value": "3"}),
        ("bool_value", bool, {"bool_value": True}, {"double_value": 1.0}),
        ("string_value", {"a": 1, None: 0}.__getitem__, {"string_value": "a"}, {"string_value": "b"}),
    ],
)
def test_a_value_that_its_widget_cannot_read_changes_nothing_and_costs_a_line(
    kind: str,
    deserializer: Callable[[Any], Any],
    right: dict[str, Any],
    wrong: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[object] = []
    session = session_of(kind, deserializer, heard)
    session.on_script_will_rerun(WidgetStates(widgets=[WidgetState(id="widget", **right)]))
    assert session.filtered_state["widget"] == heard[0]
    with caplog.at_level(logging.WARNING):
        session.on_script_will_rerun(WidgetStates(widgets=[WidgetState(id="widget", **wrong)] * 3))
    # Of a widget that a run has read, the value before stays; nothing is heard of it.
    assert len(heard) == 1
    (line,) = [said for said in caplog.messages if "Dropped" in said]
    assert line == "Dropped unreadable widget values: 3, the first with the id 'widget'"


def test_a_value_that_came_before_its_widget_is_dropped_when_that_is_made() -> None:
    state = SessionState()
    session = SafeSessionState(state, lambda: None)
    session.on_script_will_rerun(WidgetStates(widgets=[WidgetState(id="widget", int_value=3)]))
    make(state, "string_value", str, lambda: None)
    assert "widget" not in session.filtered_state


def test_no_page_learns_of_a_press_on_a_button_but_by_its_callback() -> None:
    """What a run reads off a button is lost where another run cuts that one short before it comes to it."""
    read = []
    for path in sorted((ROOT / "viz").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        alone = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        read += [
            f"{path.relative_to(ROOT)}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "st.button" and node not in alone
        ]
    assert read == []


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


def test_a_web_socket_hands_on_what_is_left() -> None:
    async def echo(scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "bytes": (await receive())["bytes"]})

    with TestClient(ForgedWidgets(echo)).websocket_connect("/") as socket:
        socket.send_bytes(message(FORGED[0], REAL[0]))
        assert socket.receive_bytes() == message(REAL[0])


@pytest.mark.parametrize(
    ("said", "value"),
    [({"selection": {"rows": [3]}}, [3]), ({"selection": 3}, None), ([], None), ("4 · s", None), (None, None)],
)
def test_what_lies_in_a_value_is_found_or_there_is_none(
    monkeypatch: pytest.MonkeyPatch, said: object, value: object
) -> None:
    monkeypatch.setattr(st, "session_state", {"table": said})
    assert sent("table", "selection", "rows") == value
    assert sent("gone") is None
