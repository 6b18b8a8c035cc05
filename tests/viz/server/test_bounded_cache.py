"""What is kept for all viewers stays within its count and its bytes, and is made once."""

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from time import sleep

import pytest

from tests.patience import PATIENCE
from viz.server.caches import BoundedCache


def test_what_was_used_longest_ago_leaves_when_bytes_run_out() -> None:
    left: list[str] = []
    store: BoundedCache[str, int] = BoundedCache(10, 100, left.append)
    store.put("a", 1, 40)
    store.put("b", 2, 40)
    assert store.get("a") == 1
    store.put("c", 3, 40)
    assert left == ["b"]
    assert store.size == 80


def test_what_was_used_longest_ago_leaves_when_entries_run_out() -> None:
    store: BoundedCache[str, int] = BoundedCache(2)
    store.put("a", 1)
    store.put("b", 2)
    assert store.get("a") == 1
    store.put("c", 3)
    assert (store.get("a"), store.get("b"), store.get("c")) == (1, None, 3)
    assert store.put("a", 4) == 1


def test_what_is_larger_than_everything_is_kept_alone() -> None:
    store: BoundedCache[str, int] = BoundedCache(10, 100)
    store.put("a", 1, 60)
    assert store.put("b", 2, 101) == 2
    assert (store.get("a"), store.get("b")) == (None, 2)
    store.put("c", 3, 60)
    assert (store.get("b"), store.get("c")) == (None, 3)


def test_room_is_made_before_something_large_is_made() -> None:
    left: list[str] = []
    store: BoundedCache[str, int] = BoundedCache(10, 100, left.append)
    store.put("a", 1, 60)

    def make() -> int:
        left.append("making")
        return 2

    store.get_or_make("b", make, lambda made: 60, expected=60)
    assert left == ["a", "making"]


def test_what_is_made_stays_though_it_is_larger_than_everything_and_leaves_for_the_next() -> None:
    left: list[str] = []
    made: list[str] = []
    store: BoundedCache[str, int] = BoundedCache(10, 100, left.append)
    store.put("a", 1, 60)

    def make() -> int:
        made.append("b")
        return 2

    for _ in range(2):
        store.get_or_make("b", make, lambda one: 150, expected=140)
    assert made == ["b"]
    assert left == ["a"]
    store.get_or_make("c", lambda: 3, lambda one: 30, expected=30)
    assert left == ["a", "b"]
    assert (store.get("c"), store.size) == (3, 30)


def test_what_could_not_be_made_holds_nobody_up() -> None:
    store: BoundedCache[str, int] = BoundedCache(10)
    with pytest.raises(ZeroDivisionError):
        store.get_or_make("a", lambda: 1 // 0, lambda one: 0)
    assert store.get_or_make("a", lambda: 7, lambda one: 0) == 7


def test_two_threads_that_want_the_same_make_it_once() -> None:
    store: BoundedCache[str, int] = BoundedCache(10)
    made: list[int] = []

    def make() -> int:
        sleep(0.05)
        made.append(1)
        return 7

    threads = [Thread(target=lambda: store.get_or_make("a", make, lambda one: 0)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]
    assert store.get("a") == 7


def test_who_comes_after_a_failure_waits_for_who_waited() -> None:
    store: BoundedCache[str, int] = BoundedCache(2)
    begun, fail = Event(), Event()
    at_once, most = 0, 0

    def failing() -> int:
        begun.set()
        assert fail.wait(PATIENCE)
        raise ValueError

    def slow() -> int:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        sleep(0.3)
        at_once -= 1
        raise ValueError

    def ask(make: Callable[[], int]) -> None:
        with suppress(ValueError):
            store.get_or_make("a", make, lambda made: 0)

    first, second, third = (Thread(target=ask, args=(make,)) for make in (failing, slow, slow))
    first.start()
    assert begun.wait(PATIENCE)
    second.start()
    sleep(0.1)
    fail.set()
    first.join()
    third.start()
    for thread in (second, third):
        thread.join()
    assert most == 1
