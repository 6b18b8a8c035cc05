"""A value is given back when the last who looked at it has gone, and earlier where there is no room."""

from collections.abc import Callable

import pytest

from viz.server import viewers
from viz.server.caches import ViewedCache

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


def test_who_comes_back_is_told_of_again(leave: Leave) -> None:
    cache = ViewedCache[str, str](9, 1_000)
    cache.put("key", "value", 1, "ann")
    leave.pop("ann")()
    cache.put("key", "value", 1, "ann")
    assert "ann" in leave
