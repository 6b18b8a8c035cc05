"""A cache for all viewers that gives a value back once the last viewer who looked at it has gone."""

from collections.abc import Hashable
from functools import partial
from threading import Lock
from typing import Generic, TypeVar

from viz.server import viewers
from viz.server.bounded_cache import BoundedCache

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class ViewedCache(Generic[Key, Value]):
    """Values by their keys, bounded as a `BoundedCache` is.

    Args:
        max_entries, max_bytes: so many entries and bytes are kept at most, of all viewers together.
    """

    def __init__(self, max_entries: int, max_bytes: int) -> None:
        self._values = BoundedCache[Key, Value](max_entries, max_bytes, on_evict=self._forget)
        self._looked: dict[str, set[Key]] = {}
        self._lock = Lock()

    def get(self, key: Key, viewer: str) -> Value | None:
        """The value of a key, if it is still kept; this viewer looks at it."""
        value = self._values.get(key)
        if value is not None:
            self._look(key, viewer)
        return value

    def put(self, key: Key, value: Value, size: int, viewer: str) -> Value:
        """Keep a value of so many bytes that this viewer looks at, and return what is kept."""
        self._look(key, viewer)
        return self._values.put(key, value, size)

    def clear(self) -> None:
        """Forget every value."""
        self._values.clear()

    @property
    def size(self) -> int:
        """Bytes of all values."""
        return self._values.size

    def _look(self, key: Key, viewer: str) -> None:
        with self._lock:
            if viewer not in self._looked:
                self._looked[viewer] = set()
                viewers.when_gone(viewer, partial(self._leave, viewer))
            self._looked[viewer].add(key)

    def _leave(self, viewer: str) -> None:
        with self._lock:
            left = self._looked.pop(viewer, set())
            for key in left.difference(*self._looked.values()):
                self._values.drop(key)

    def _forget(self, key: Key) -> None:
        with self._lock:
            for keys in self._looked.values():
                keys.discard(key)
