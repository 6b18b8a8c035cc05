"""What is kept for all viewers stays within its bounds, is made once, and leaves with who looked at it."""

import gc
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Thread
from time import sleep

import numpy as np
import pytest
import streamlit as st

from viz.server import viewers
from viz.server.caches import BoundedCache, ViewedCache, cached


def test_what_was_used_longest_ago_leaves_when_bytes_or_entries_run_out() -> None:
    left: list[str] = []
    store: BoundedCache[str, int] = BoundedCache(10, 100, left.append)
    store.put("a", 1, 40)
    store.put("b", 2, 40)
    assert store.get("a") == 1
    store.put("c", 3, 40)
    assert left == ["b"]
    assert store.size == 80
    store.put("d", 4, 20)
    assert (left, store.size) == (["b"], 100)
    # What was used longest ago leaves when entries run out.
    of_two: BoundedCache[str, int] = BoundedCache(2)
    of_two.put("a", 1)
    of_two.put("b", 2)
    assert of_two.get("a") == 1
    of_two.put("c", 3)
    assert (of_two.get("a"), of_two.get("b"), of_two.get("c")) == (1, None, 3)
    assert of_two.put("a", 4) == 1
    # What is larger than everything is kept alone.
    small: BoundedCache[str, int] = BoundedCache(10, 100)
    small.put("a", 1, 60)
    assert small.put("b", 2, 101) == 2
    assert (small.get("a"), small.get("b")) == (None, 2)
    small.put("c", 3, 60)
    assert (small.get("b"), small.get("c")) == (None, 3)


@pytest.mark.parametrize("size", [0, 10])
def test_what_one_viewer_looks_at_is_not_evicted_by_how_much_another_asks_for(size: int) -> None:
    """`size` 0: entries run out; else bytes."""
    asking = "a"
    store: BoundedCache[str, int] = BoundedCache(100 if size else 10, 100, viewer=lambda: asking)
    for number in range(4):
        store.put(f"a{number}", number, size)
    asking = "b"
    assert store.get("a3") == 3
    for number in range(50):
        store.put(f"b{number}", number, size)
        store.get_or_make(f"made{number}", lambda: 1, lambda value: size, expected=size)
    kept = [number for number in range(50) if store.get(f"b{number}") is not None]
    asking = "a"
    # Whoever looked last has it: “a3” is b's, and left with the first of theirs.
    assert [store.get(f"a{number}") for number in range(4)] == [0, 1, 2, None]
    assert kept
    assert min(kept) > 40


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


class Source:
    """Has a key, as a trace has."""

    def __init__(self, key: str) -> None:
        self.key = key


@dataclass(frozen=True)
class Choice:
    name: str
    size: int


@pytest.fixture(autouse=True)
def _nothing_cached() -> Iterator[None]:
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@cached(max_entries=2)
def derived(source: Source, part: object, *, doubled: bool = False) -> list[object]:
    return [source.key, part, doubled]


@cached(max_entries=2)
def other(source: Source, part: object, *, doubled: bool = False) -> list[object]:
    return ["other", source.key, part, doubled]


def test_equal_keys_give_the_same_object_and_others_another() -> None:
    first = derived(Source("a"), 1)
    assert derived(Source("a"), 1) is first
    assert derived(part=1, source=Source("a"), doubled=False) is first
    assert derived(Source("a"), 1)[0] == "a"
    assert derived(Source("b"), 1)[0] == "b"
    assert other(Source("a"), 1)[0] == "other"
    assert derived(Source("a"), frozenset({"x", "y"})) is derived(Source("a"), frozenset({"y", "x"}))
    assert derived(Source("a"), Choice("x", 1)) is derived(Source("a"), Choice("x", 1))


@pytest.mark.parametrize("part", [2, "1", (1,), None, Choice("x", 1), frozenset({1})])
def test_other_values_are_other_entries(part: object) -> None:
    assert derived(Source("a"), part) is not derived(Source("a"), 1)


def test_no_more_than_the_bound_are_kept() -> None:
    first = derived(Source("a"), 1)
    derived(Source("b"), 1)
    derived(Source("c"), 1)
    assert derived(Source("a"), 1) is not first
    # Arrays are refused.
    with pytest.raises(TypeError, match="give it a `key`"):
        derived(Source("a"), np.zeros(3))


def test_what_a_result_was_computed_from_is_not_held() -> None:
    source = Source("a")
    derived(source, 1)
    seen: Callable[[], Source | None] = weakref.ref(source)
    del source
    gc.collect()
    assert seen() is None
    # Nothing is a result as well.
    computed: list[int] = []

    @cached(max_entries=2)
    def nothing(number: int) -> None:
        computed.append(number)

    nothing(1)
    nothing(1)
    assert computed == [1]


def test_of_what_has_left_nothing_is_held_at_all() -> None:
    derived(Source("a"), 1)
    gc.collect()
    before = len(gc.get_objects())
    for number in range(500):
        derived(Source("a"), number)
    gc.collect()
    assert len(gc.get_objects()) - before < 250


Leave = dict[str, Callable[[], None]]


@pytest.fixture
def leave(monkeypatch: pytest.MonkeyPatch) -> Leave:
    """By viewer, what is called when the viewer has gone."""
    calls: Leave = {}
    monkeypatch.setattr(viewers, "when_gone", calls.__setitem__)
    return calls


def test_a_value_stays_as_long_as_someone_is_there_who_looked_at_it(leave: Leave) -> None:
    cache = ViewedCache[str, str](9, 1_000)
    cache.put("shared", "value", 300, "ann")
    cache.put("own", "value", 300, "ann")
    assert cache.get("shared", "bob") == "value"
    leave["ann"]()
    assert (cache.get("shared", "bob"), cache.get("own", "bob"), cache.size) == ("value", None, 300)
    leave["bob"]()
    assert cache.size == 0


def test_there_are_never_more_bytes_than_are_allowed_for_all_viewers(leave: Leave) -> None:
    cache = ViewedCache[int, str](99, 1_000)
    for key in range(9):
        cache.put(key, "value", 300, f"viewer {key % 3}")
        assert cache.size <= 1_000
    assert cache.get(8, "viewer 0") == "value"
    assert cache.get(0, "viewer 0") is None
