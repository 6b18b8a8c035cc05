"""Keep what a function derived from a model or a trace, for all viewers, under the keys of its arguments."""

import dataclasses
from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import ParamSpec, TypeVar

import streamlit as st

from viz.server.bounded_cache import BoundedCache
from viz.text import messages

P = ParamSpec("P")
R = TypeVar("R")


def cached(*, max_entries: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compute each result once and return that very object from then on; the least recently used leave first.

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
    """A file as it is now: what was read of it is kept under this, and read anew when the file has changed."""

    path: str
    changed: int
    size: int

    @classmethod
    def of(cls, path: Path) -> "FileState":
        """Raises an OSError where it cannot be looked up."""
        state = path.stat()
        return cls(str(path), state.st_mtime_ns, state.st_size)


def cache_key(value: object) -> object:
    """A plain value by which an argument is known.

    Raises:
        TypeError: it is neither plain nor has a `key`; arrays are never hashed.
    """
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
