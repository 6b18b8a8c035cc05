"""Whoever is to be told of a viewer's going is told once, soon after, and not when the browser comes back in time."""

import threading
import time

import pytest

from viz.core import viewers

SOON = 10


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
    assert left.wait(SOON)
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
    assert other.wait(SOON)
    assert not called.is_set()
