"""The selection of a session, its widgets and its address."""

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from viz.selection import state
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection


def begun() -> None:
    """As the app, in a session that has added a model."""
    from pathlib import Path

    import streamlit as st

    from viz.selection import catalogue, state

    st.session_state[catalogue._ADDED] = {"mine": Path("mine")}
    state.begin(list(catalogue.models()))


@pytest.mark.parametrize("asked", ["", "gone"])
def test_without_a_model_of_the_server_ones_own_first_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    app = AppTest.from_function(begun)
    app.query_params["checkpoint"] = asked
    selection = app.run().session_state["selection"]
    assert (selection.model.checkpoint, selection.model.folder) == ("mine", "mine")
    (tmp_path / "en-de").mkdir()
    app = AppTest.from_function(begun)
    assert app.run().session_state["selection"].model.checkpoint == ""


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """A session whose selection is the default."""
    values: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", values)
    state.put(Selection())
    return values


def test_a_widget_shows_its_field_and_hands_back_a_change(session: dict[str, object]) -> None:
    state.change(further_heads=(2, 5), token=3)
    assert state.bind("further_heads") == "further_heads"
    assert session["further_heads"] == [2, 5]
    session["further_heads"] = [1]
    state.take("further_heads")
    assert state.current() == Selection().changed(further_heads=(1,), token=3)


@pytest.mark.parametrize(
    ("field", "sent"),
    [("token", "4 · s"), ("token", True), ("token", -1), ("token", 1.0), ("order", "4 · s"), ("further_heads", ["1"])],
)
def test_what_a_field_cannot_be_changes_nothing(session: dict[str, object], field: str, sent: object) -> None:
    state.change(token=3)
    session[field] = sent
    state.take(field)
    assert state.current() == Selection().changed(token=3)


def test_a_value_that_cannot_be_read_changes_nothing(session: dict[str, object]) -> None:
    session["temperature"] = "4 · s"
    state.take("temperature", lambda value: round(value * 100))
    assert state.current() == Selection()
    session["temperature"] = 1.5
    state.take("temperature", lambda value: round(value * 100))
    assert state.current().decoding.temperature == 150


def test_a_widget_may_show_what_the_page_chose(session: dict[str, object]) -> None:
    state.bind("token", 4)
    assert session["token"] == 4
    assert state.current().common.token is None


@pytest.mark.parametrize(("change", "token"), [(state.change, 3), (state.choose, None)])
def test_only_what_a_person_chose_resets_what_belonged_to_it(
    session: dict[str, object], change: Callable[..., None], token: int | None
) -> None:
    state.change(token=3)
    change(text="It is late.")
    assert (state.current().common.text, state.current().common.token) == ("It is late.", token)


def test_a_position_beyond_the_end_is_forgotten(session: dict[str, object]) -> None:
    state.change(token=3)
    assert state.position("token", 4, default=1) == 3
    assert state.position("token", 3, default=1) == 1
    assert state.current().common.token is None


def test_a_value_is_of_the_type_that_is_asked_for(session: dict[str, object]) -> None:
    assert state.value("beam_size", int) == 4
    with pytest.raises(AssertionError, match="beam_size"):
        state.value("beam_size", str)
