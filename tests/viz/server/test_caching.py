"""What is derived is computed once for equal keys, and forgotten when others have taken its room."""

import gc
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import streamlit as st

from viz.server.caches import cached


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


def test_equal_keys_give_the_same_object_however_the_arguments_are_passed() -> None:
    first = derived(Source("a"), 1)
    assert derived(Source("a"), 1) is first
    assert derived(part=1, source=Source("a"), doubled=False) is first


@pytest.mark.parametrize("part", [2, "1", (1,), None, Choice("x", 1), frozenset({1})])
def test_other_values_are_other_entries(part: object) -> None:
    assert derived(Source("a"), part) is not derived(Source("a"), 1)


def test_another_key_and_another_function_are_other_entries() -> None:
    assert derived(Source("a"), 1)[0] == "a"
    assert derived(Source("b"), 1)[0] == "b"
    assert other(Source("a"), 1)[0] == "other"


def test_sets_and_dataclasses_are_known_by_what_they_hold() -> None:
    assert derived(Source("a"), frozenset({"x", "y"})) is derived(Source("a"), frozenset({"y", "x"}))
    assert derived(Source("a"), Choice("x", 1)) is derived(Source("a"), Choice("x", 1))


def test_no_more_than_the_bound_are_kept() -> None:
    first = derived(Source("a"), 1)
    derived(Source("b"), 1)
    derived(Source("c"), 1)
    assert derived(Source("a"), 1) is not first


def test_arrays_are_refused() -> None:
    with pytest.raises(TypeError, match="give it a `key`"):
        derived(Source("a"), np.zeros(3))


def test_what_a_result_was_computed_from_is_not_held() -> None:
    source = Source("a")
    derived(source, 1)
    seen: Callable[[], Source | None] = weakref.ref(source)
    del source
    gc.collect()
    assert seen() is None


def test_nothing_is_a_result_as_well() -> None:
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
