"""Pages wait for their turn to compute, not long, and give it back however their run ends."""

import threading
import time
from contextlib import suppress
from typing import Never

import pytest

from viz.core import concurrency_limit


@pytest.fixture
def one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency_limit, "_TURNS", threading.BoundedSemaphore(1))
    monkeypatch.setattr(concurrency_limit, "PATIENCE", 0.2)


def waited() -> float:
    began = time.monotonic()
    with concurrency_limit.given_back():
        concurrency_limit.wait()
        return time.monotonic() - began


def in_thread(run) -> float | None:
    found = []
    thread = threading.Thread(target=lambda: found.append(run()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.usefixtures("one_turn")
def test_a_page_waits_while_another_computes_but_not_for_ever() -> None:
    with concurrency_limit.given_back():
        concurrency_limit.wait()
        assert in_thread(waited) >= 0.2
    assert in_thread(waited) < 0.2


@pytest.mark.usefixtures("one_turn")
def test_a_turn_is_given_back_after_an_error_and_taken_once_a_run() -> Never:
    with suppress(ValueError), concurrency_limit.given_back():
        concurrency_limit.wait()
        concurrency_limit.wait()
        raise ValueError
    assert in_thread(waited) < 0.2


@pytest.mark.usefixtures("one_turn")
def test_a_fragment_that_runs_alone_waits_for_nobody() -> None:
    with concurrency_limit.given_back():
        concurrency_limit.wait()
        assert in_thread(concurrency_limit.wait) is None
    assert waited() < 0.2
