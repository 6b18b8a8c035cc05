"""The selection of a session, its widgets and its address; a run that is cut short."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import RerunData, RerunException
from streamlit.testing.v1 import AppTest

from viz.selection import state
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection


def begun() -> None:
    """As the app, in a session that has added a model."""
    from pathlib import Path

    from viz.selection import catalogue, state

    catalogue.add(Path("mine"))
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


def test_an_address_that_says_nothing_opens_the_first_model_given_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    (tmp_path / "en-de").mkdir()
    monkeypatch.setattr("sys.argv", ["app.py", str(tmp_path / "given" / "bert"), str(tmp_path / "given" / "gpt2")])
    chosen = {}
    for address in ({}, {"lang": "zh"}, {"layer": "2"}, {"checkpoint": "gpt2"}):
        app = AppTest.from_function(begun)
        for name, value in address.items():
            app.query_params[name] = value
        chosen[tuple(address.values())] = app.run().session_state["selection"].model.checkpoint
    assert chosen == {(): "bert", ("zh",): "bert", ("2",): "", ("gpt2",): "gpt2"}


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """A session whose selection is the default."""
    values: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", values)
    state.put(Selection())
    return values


def test_a_widget_shows_its_field_or_what_the_page_chose_and_hands_back_a_change(session: dict[str, object]) -> None:
    state.change(further_heads=(2, 5), token=3)
    assert state.bind("further_heads") == "further_heads"
    assert session["further_heads"] == [2, 5]
    session["further_heads"] = [1]
    state.take("further_heads")
    assert state.current() == Selection().changed(further_heads=(1,), token=3)
    # What the page chose is shown, and chosen by nobody.
    state.put(Selection())
    state.bind("token", 4)
    assert session["token"] == 4
    assert state.current().common.token is None
    assert state.value("beam_size", int) == 4
    with pytest.raises(AssertionError, match="beam_size"):
        state.value("beam_size", str)


@pytest.mark.parametrize(
    ("field", "sent"),
    [("token", "4 · s"), ("token", True), ("token", -1), ("token", 1.0), ("order", "4 · s"), ("further_heads", ["1"])],
)
def test_what_a_field_cannot_be_changes_nothing(session: dict[str, object], field: str, sent: object) -> None:
    state.change(token=3)
    session[field] = sent
    state.take(field)
    assert state.current() == Selection().changed(token=3)


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


def page() -> None:
    import streamlit as st

    from viz.selection import state

    state.begin(["en-de"])
    if st.toggle("Shown", True):
        key = state.bind("token", state.position("token", 3, default=1), always=False)
        st.pills("Word", range(3), key=key, on_change=state.take, args=("token",))
    if not st.checkbox("Cut short"):
        state.end()


def sends_value(app: AppTest) -> bool:
    return bool(app.button_group[0].proto.set_value)


def test_a_value_is_told_until_a_run_that_told_it_came_to_its_end() -> None:
    app = AppTest.from_function(page).run()
    app.checkbox[0].set_value(True)
    app.toggle[0].set_value(False).run()
    app.toggle[0].set_value(True).run()
    assert sends_value(app)
    assert sends_value(app.run())
    app.checkbox[0].set_value(False).run()
    assert not sends_value(app.run())
    app.checkbox[0].set_value(True).run()
    assert not sends_value(app.run())


class CutShort(RerunException):
    """As Streamlit ends a run for the next one: at any use of the session or of the address."""

    def __init__(self) -> None:
        super().__init__(RerunData())


class Address(dict[str, str]):
    """The browser's address, after which a run may be cut short: what it then shows has been seen."""

    is_cut = False

    def to_dict(self) -> dict[str, str]:
        return dict(self)

    def from_dict(self, params: dict[str, str]) -> None:
        self.clear()
        self.update(params)
        if self.is_cut:
            raise CutShort


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Address:
    """A session that has opened with head 0, and its address."""
    address = Address()
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", address)
    state.put(Selection().changed(layer=0, head=0))
    state.end()
    return address


def head() -> int | None:
    return state.current().common.head


def chosen(number: int) -> None:
    """A person clicks a head, and the run ends."""
    cut(number)
    state.end()


def cut(number: int) -> None:
    """A person clicks a head, and the run begins."""
    state.choose(head=number)
    state.begin(["en-de"])


def test_a_choice_that_the_address_shows_can_be_undone_though_its_run_is_cut_short(address: Address) -> None:
    address.is_cut = True
    with pytest.raises(CutShort):
        chosen(2)
    address.is_cut = False
    assert address["head"] == "L1H3"
    chosen(3)
    assert state.undo(1)
    assert head() == 2


def test_a_choice_that_cuts_the_first_run_short_can_be_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", Address({"head": "L1H1"}))
    state.begin(["en-de"])
    chosen(2)
    assert state.undo(1)
    assert head() == 0


@pytest.mark.usefixtures("address")
def test_a_choice_whose_run_never_ended_is_undone_first() -> None:
    chosen(2)
    cut(3)
    assert state.undo(1)
    assert head() == 2
    assert state.undo(1)
    assert head() == 0
    assert state.undo(-2)
    assert head() == 3


def led_to(address: Address, params: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser goes back or forward to an address, and the run ends."""
    address.clear()
    address.update(params)
    with monkeypatch.context() as patch:
        led = SimpleNamespace(is_history_navigation=True, page_script_hash="")
        patch.setattr("viz.selection.state.get_script_run_ctx", lambda: led)
        state.begin(["en-de"])
        state.end()


def test_back_and_forward_go_along_the_choices_so_that_undo_goes_on_from_there(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = {}
    for number in (2, 3, 4):
        chosen(number)
        shown[number] = dict(address)
    led_to(address, shown[3], monkeypatch)
    led_to(address, shown[2], monkeypatch)
    assert state.undo(1)
    assert head() == 0
    assert not state.undo(1)
    assert state.undo(-2)
    assert head() == 3
    led_to(address, shown[4], monkeypatch)
    assert not state.undo(-1)
    # Another address, by hand for example, is a choice.
    led_to(address, {**shown[4], "head": "L1H2"}, monkeypatch)
    assert state.undo(1)
    assert head() == 4
