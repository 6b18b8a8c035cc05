"""What the browser says of a widget, however little it has the form that was expected."""

import pytest
import streamlit as st

from viz.server.widgets import sent


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
