"""A run that is cut short by what a person does next loses no choice, and undo none that was seen."""

from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import RerunData, RerunException

from viz.selection import state
from viz.selection.selection import Selection


class CutShort(RerunException):
    """As Streamlit ends a run for the next one: at any use of the session or of the address."""

    def __init__(self) -> None:
        super().__init__(RerunData())


class Session(dict[str, Any]):
    """A session that lets a number of uses pass and cuts the next one short; then all of them pass."""

    left: int | None = None

    def _use(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise CutShort

    def __getitem__(self, key: str) -> Any:
        self._use()
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._use()
        super().__setitem__(key, value)

    def get(self, key: str, default: Any = None) -> Any:
        self._use()
        return super().get(key, default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        self._use()
        return super().setdefault(key, default)


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
    monkeypatch.setattr(st, "session_state", Session())
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


@pytest.mark.usefixtures("address")
def test_what_a_page_makes_of_an_undo_is_no_choice_though_the_run_is_cut_short() -> None:
    chosen(2)
    chosen(3)
    assert state.undo(1)
    state.begin(["en-de"])
    state.change(token=1)
    # The browser still shows what held before the undo, and says so with the next press.
    state.choose(head=3)
    assert state.undo(1)
    assert head() == 0
    assert state.undo(-1)
    assert state.undo(-1)
    assert head() == 3


@pytest.mark.usefixtures("address")
def test_an_undo_is_done_whole_or_not_at_all_wherever_the_next_press_cuts_it_short() -> None:
    session, cuts = st.session_state, 0
    assert isinstance(session, Session)
    chosen(2)
    chosen(3)
    for uses in range(100):
        state.begin(["en-de"])
        session.left = uses
        try:
            state.undo(1)
        except CutShort:
            cuts += 1
            assert head() == 3
            assert state.undo(2)
            assert head() == 0
            assert state.undo(-2)
            state.end()
        else:
            break
    session.left = None
    assert cuts > 3
    assert head() == 2
    assert state.undo(1)
    assert head() == 0
