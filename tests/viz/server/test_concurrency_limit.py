"""Pages wait for a slot to compute, not long, and release it however their run ends."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import pytest

from viz.server import limits

Result = TypeVar("Result")


@pytest.fixture
def one_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_SLOTS", threading.BoundedSemaphore(1))
    monkeypatch.setattr(limits, "MAX_WAIT", 0.2)


def waited() -> float:
    began = time.monotonic()
    with limits.page_run():
        limits.acquire()
        return time.monotonic() - began


def in_thread(run: Callable[[], Result]) -> Result:
    found: list[Result] = []
    thread = threading.Thread(target=lambda: found.append(run()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.usefixtures("one_slot")
def test_a_page_waits_while_another_computes_but_not_for_ever() -> None:
    with limits.page_run():
        limits.acquire()
        assert in_thread(waited) >= 0.2
    assert in_thread(waited) < 0.2


@pytest.mark.usefixtures("one_slot")
def test_a_slot_is_released_after_an_error_and_taken_once_a_run() -> None:
    with suppress(ValueError), limits.page_run():
        limits.acquire()
        limits.acquire()
        raise ValueError
    assert in_thread(waited) < 0.2


@pytest.mark.usefixtures("one_slot")
def test_a_fragment_that_runs_alone_waits_for_nobody() -> None:
    with limits.page_run():
        limits.acquire()
        assert in_thread(limits.acquire) is None
    assert waited() < 0.2


@pytest.mark.usefixtures("one_slot")
def test_a_fragment_that_runs_in_the_thread_of_a_page_takes_no_slot() -> None:
    waited()
    limits.acquire()
    assert in_thread(waited) < 0.2


@pytest.mark.usefixtures("one_slot")
def test_a_page_whose_work_waits_lets_another_compute_and_takes_a_slot_again() -> None:
    with limits.page_run():
        limits.acquire()
        limits.release()
        assert in_thread(waited) < 0.2
        limits.acquire()
        assert in_thread(waited) >= 0.2
    assert in_thread(waited) < 0.2
