"""Pages wait for their turn to compute, not long, and give it back however their run ends."""

import threading
import time
from contextlib import suppress

import pytest

from viz import turns


@pytest.fixture
def one_turn(monkeypatch):
    monkeypatch.setattr(turns, "_TURNS", threading.BoundedSemaphore(1))
    monkeypatch.setattr(turns, "PATIENCE", 0.2)


def waited():
    began = time.monotonic()
    with turns.given_back():
        turns.wait()
        return time.monotonic() - began


def in_thread(run):
    found = []
    thread = threading.Thread(target=lambda: found.append(run()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.usefixtures("one_turn")
def test_a_page_waits_while_another_computes_but_not_for_ever():
    with turns.given_back():
        turns.wait()
        assert in_thread(waited) >= 0.2
    assert in_thread(waited) < 0.2


@pytest.mark.usefixtures("one_turn")
def test_a_turn_is_given_back_after_an_error_and_taken_once_a_run():
    with suppress(ValueError), turns.given_back():
        turns.wait()
        turns.wait()
        raise ValueError
    assert in_thread(waited) < 0.2


@pytest.mark.usefixtures("one_turn")
def test_a_fragment_that_runs_alone_waits_for_nobody():
    with turns.given_back():
        turns.wait()
        assert in_thread(turns.wait) is None
    assert waited() < 0.2
