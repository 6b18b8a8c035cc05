"""Whoever is to be told of a viewer's going is told once, soon after, and not when the browser comes back in time."""

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from tests.patience import PATIENCE
from viz.server import viewers


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Who is not there; a viewer who leaves has a tenth of a second to come back."""
    missing: set[str] = set()
    monkeypatch.setattr(viewers, "is_here", lambda viewer: viewer not in missing)
    monkeypatch.setattr(viewers, "GRACE", 0.1)
    monkeypatch.setattr(viewers, "INTERVAL", 0.01)
    return missing


def test_a_call_comes_after_the_viewer_has_left_and_only_then(absent: set[str]) -> None:
    departures, left, stayed = viewers.Departures(), threading.Event(), threading.Event()
    departures.add("leaves", left.set)
    departures.add("stays", stayed.set)
    assert not left.wait(0.2)
    absent.add("leaves")
    assert left.wait(PATIENCE)
    assert not stayed.is_set()


def test_a_viewer_who_comes_back_in_time_has_not_gone(absent: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewers, "GRACE", 0.5)
    departures, left = viewers.Departures(), threading.Event()
    departures.add("blinks", left.set)
    absent.add("blinks")
    time.sleep(0.1)
    absent.clear()
    assert not left.wait(0.7)


def test_what_was_undone_is_not_called(absent: set[str]) -> None:
    departures, called, other = viewers.Departures(), threading.Event(), threading.Event()
    departures.add("leaves", called.set)()
    departures.add("leaves", other.set)
    absent.add("leaves")
    assert other.wait(PATIENCE)
    assert not called.is_set()


def cookie(token: bytes, mask: bytes) -> str:
    """A token as Streamlit writes it into a cookie: under a mask that is new every time."""
    masked = bytes(value ^ mask[index % len(mask)] for index, value in enumerate(token))
    return f"2|{mask.hex()}|{masked.hex()}|1700000000"


@pytest.fixture
def in_session(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """Which viewer a session with this cookie belongs to."""

    def viewer(session: str, sent: str) -> str:
        monkeypatch.setattr(viewers, "current", lambda: session)
        monkeypatch.setattr(viewers, "st", SimpleNamespace(context=SimpleNamespace(cookies={viewers.COOKIE: sent})))
        return viewers.browser()

    return viewer


def test_two_tabs_of_one_browser_are_one_viewer_and_two_browsers_are_two(in_session: Callable[[str, str], str]) -> None:
    mine, theirs = b"m" * 16, b"t" * 16
    first = in_session("tab 1", cookie(mine, b"\x01\x02\x03\x04"))
    assert first == in_session("tab 2", cookie(mine, b"\xfa\xfb\xfc\xfd"))
    assert first != in_session("tab 3", cookie(theirs, b"\x01\x02\x03\x04"))
    # Outside of a page there is no viewer.
    assert in_session("", cookie(b"m" * 16, b"abcd")) == ""
    # The cookie is read as Streamlit writes it.
    from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

    written = [generate_xsrf_token_string(b"0123456789abcdef", 1_700_000_000) for _ in range(2)]
    assert written[0] != written[1]
    assert len({in_session(f"tab {number}", sent) for number, sent in enumerate(written)}) == 1


@pytest.mark.parametrize("sent", ["", "2", "2|zz|zz|1", "2||00|1", "1|00|00|1", "2|00||1", "x" * 10_000, "2|0|0|0|0"])
def test_without_a_cookie_that_can_be_read_a_viewer_is_a_session(
    in_session: Callable[[str, str], str], sent: str
) -> None:
    assert in_session("tab", sent) == "tab"


@pytest.mark.parametrize(("length", "is_read"), [(200, True), (201, False)])
def test_a_cookie_is_read_up_to_a_length(in_session: Callable[[str, str], str], length: int, is_read: bool) -> None:
    sent = cookie(b"m" * 16, b"abcd").ljust(length, "0")
    assert (in_session("tab", sent) != "tab") == is_read
