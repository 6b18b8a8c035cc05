"""Caches for all threads: bounded by entries and bytes, under keys of plain values, or as long as somebody looks.

Like Streamlit's `cache_resource`, but that counts entries, not bytes, and what it calls may not draw anything.

On a shared server what is evicted is of the viewer who has most of it, so that nobody evicts what others look at by
asking for much.
"""

import dataclasses
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache, partial, wraps
from inspect import signature
from pathlib import Path
from threading import Lock
from typing import Generic, NamedTuple, ParamSpec, TypeVar

import psutil
import streamlit as st

from viz.server import limits, viewers
from viz.text import messages

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@lru_cache(maxsize=1_024)
def _browser_of(session: str) -> str:
    return viewers.browser()


def viewer() -> str:
    """Who looks at what is asked for now; "" where the server is not shared, or no page asks."""
    return _browser_of(viewers.current()) if limits.rules().is_shared else ""


class _Entry(NamedTuple, Generic[Value]):
    """A value, its bytes, and who looked at it last."""

    value: Value
    size: int
    viewer: str


class BoundedCache(Generic[Key, Value]):
    """Values by their keys, at most `max_bytes` together by the sizes given to `put`; None for no limit.

    `on_evict` is called with the key of every evicted entry: the least recently used of the viewer who has most.
    """

    def __init__(
        self,
        max_entries: int,
        max_bytes: int | None = None,
        on_evict: Callable[[Key], None] = lambda key: None,
        viewer: Callable[[], str] = viewer,
    ) -> None:
        self._max_entries, self._max_bytes, self._on_evict, self._viewer = max_entries, max_bytes, on_evict, viewer
        self._entries: OrderedDict[Key, _Entry[Value]] = OrderedDict()
        self._lock = Lock()
        #: Key → the lock of who makes its value, and how many hold it or wait for it.
        self._key_locks: dict[Key, tuple[Lock, int]] = {}

    def get(self, key: Key) -> Value | None:
        """The value of a key, for example the trace of (text, checkpoint digest, device), if it is still kept."""
        viewer = self._viewer()
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            self._entries[key] = entry = self._entries[key]._replace(viewer=viewer)
            return entry.value

    def put(self, key: Key, value: Value, size: int = 0) -> Value:
        """Keep a value of `size` bytes, and return the kept value: another viewer's, if that was first.

        A value larger than `max_bytes` evicts all others: making it each time would need as many bytes.
        """
        viewer = self._viewer()
        with self._lock:
            kept = self._entries.setdefault(key, _Entry(value, size, viewer))
            evicted = self._evict(0, viewer, spared=1)
        for other in evicted:
            self._on_evict(other)
        return kept.value

    def get_or_make(
        self, key: Key, make: Callable[[], Value], size_of: Callable[[Value], int], expected: int = 0
    ) -> Value:
        """The value of a key; if there is none, one thread makes it while others wait, and it is kept as by `put`.

        Others are evicted for the `expected` bytes before it is made.
        """
        with self._lock:
            key_lock, users = self._key_locks.get(key, (Lock(), 0))
            self._key_locks[key] = key_lock, users + 1
        try:
            with key_lock:
                value = self.get(key)
                if value is None:
                    viewer = self._viewer()
                    with self._lock:
                        evicted = self._evict(expected, viewer, spared=0)
                    for other in evicted:
                        self._on_evict(other)
                    value = make()
                    value = self.put(key, value, size_of(value))
        finally:
            with self._lock:
                _lock, users = self._key_locks.pop(key)
                # Whoever waited makes the value, should it have failed, and who comes now waits for them.
                if users > 1:
                    self._key_locks[key] = key_lock, users - 1
        return value

    def drop(self, key: Key) -> None:
        """Remove the value of a key, if there is one."""
        with self._lock:
            self._entries.pop(key, None)

    def clear(self) -> None:
        """Remove every value."""
        with self._lock:
            self._entries.clear()

    @property
    def size(self) -> int:
        """Bytes of all values."""
        with self._lock:
            return sum(entry.size for entry in self._entries.values())

    def _evict(self, more: int, viewer: str, *, spared: int) -> list[Key]:
        """Make room for `more` bytes of a viewer, but keep the `spared` latest entries; the lock is held."""
        evicted = []
        while len(self._entries) > spared:
            total = more + sum(entry.size for entry in self._entries.values())
            are_many = len(self._entries) > self._max_entries
            if not are_many and (self._max_bytes is None or total <= self._max_bytes):
                break
            taken = Counter({viewer: 0 if are_many else more})
            for entry in self._entries.values():
                taken[entry.viewer] += 1 if are_many else entry.size
            last = list(self._entries)[: len(self._entries) - spared]
            # The first of them was used longest ago.
            key = max(last, key=lambda key: taken[self._entries[key].viewer])
            del self._entries[key]
            evicted.append(key)
        return evicted


def share_of_memory(share: float) -> int:
    """This share of the machine's memory, in bytes."""
    return int(share * psutil.virtual_memory().total)


P = ParamSpec("P")
R = TypeVar("R")


def cached(*, max_entries: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function: compute each result once and return the same object again; evict the least recently used.

    An argument that has a `key` (a trace, a loaded model) is known by it; any other must be a plain value: a number, a
    text, None, or a tuple, frozen set or frozen dataclass of such. Results are shared, so they must be read-only.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        def store() -> BoundedCache[str, tuple[R]]:
            return BoundedCache(max_entries)

        # Streamlit tells cached functions apart by module, name and source. It keeps the store alone: of what it keeps
        # by arguments it would keep a lock for each that ever came.
        store.__module__, store.__qualname__ = function.__module__, function.__qualname__
        kept = st.cache_resource(show_spinner=False)(store)
        parameters = signature(function)
        # What all viewers share speaks no viewer's language: words in it are what `said` makes.
        in_english = messages.speaking(messages.ENGLISH)(function)

        @wraps(function)
        def from_cache(*args: P.args, **kwargs: P.kwargs) -> R:
            given = parameters.bind(*args, **kwargs)
            given.apply_defaults()
            key = repr(tuple(map(cache_key, given.arguments.values())))
            # In a tuple, for None is a result too.
            return kept().get_or_make(key, lambda: (in_english(*args, **kwargs),), size_of=lambda made: 0)[0]

        return from_cache

    return decorate


@dataclasses.dataclass(frozen=True)
class FileState:
    """Path, time of change and size of a file: the key under which its content is cached."""

    path: str
    changed: int
    size: int

    @classmethod
    def of(cls, path: Path) -> "FileState":
        """Raises an OSError where it cannot be looked up."""
        state = path.stat()
        return cls(str(path), state.st_mtime_ns, state.st_size)


def cache_key(value: object) -> object:
    """A plain value for an argument, never an array. Raises a TypeError if it is not plain and has no `key`."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(key := getattr(value, "key", None), str):
        return key
    if isinstance(value, tuple):
        return tuple(map(cache_key, value))
    if isinstance(value, frozenset):
        return sorted(map(repr, map(cache_key, value)))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value).__qualname__, *(cache_key(getattr(value, item.name)) for item in dataclasses.fields(value))
    raise TypeError(f"A {type(value).__name__} cannot be told from another; give it a `key`, or pass plain values.")


class ViewedCache(Generic[Key, Value]):
    """A `BoundedCache` of all viewers together, of which each value lasts as long as one of them looks at it."""

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
        """Keep a value of `size` bytes that this viewer looks at, and return the kept value."""
        self._look(key, viewer)
        return self._values.put(key, value, size)

    def clear(self) -> None:
        """Remove every value."""
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
