"""A cache for all threads, bounded by entries and by bytes; what was not used for longest is evicted.

Like Streamlit's `cache_resource`, but that counts entries, not bytes, and what it calls may not draw anything.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

import psutil

Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Values by their keys.

    Args:
        max_entries: so many are kept at most.
        max_bytes: so many bytes together, by the sizes that were given; None for any number.
        on_evict: called with every key that was evicted.
    """

    def __init__(
        self, max_entries: int, max_bytes: int | None = None, on_evict: Callable[[Key], None] = lambda key: None
    ) -> None:
        self._max_entries, self._max_bytes, self._on_evict = max_entries, max_bytes, on_evict
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()
        #: Key → the lock of who makes its value, and how many hold it or wait for it.
        self._key_locks: dict[Key, tuple[Lock, int]] = {}

    def get(self, key: Key) -> Value | None:
        """The value of a key, for example the trace of (text, checkpoint digest, device), if it is still kept."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: Key, value: Value, size: int = 0) -> Value:
        """Keep a value of so many bytes, and return what is kept: another viewer may have been first.

        A value larger than `max_bytes` is kept alone: to make it each time would need as many bytes.
        """
        with self._lock:
            kept, _ = self._entries.setdefault(key, (value, size))
            evicted = self._evict(0, spared=1)
        for other in evicted:
            self._on_evict(other)
        return kept

    def get_or_make(
        self, key: Key, make: Callable[[], Value], size_of: Callable[[Value], int], expected: int = 0
    ) -> Value:
        """The value of a key; if there is none, one thread makes it while others that want it wait. Keeps as `put`.

        Args:
            key: of the value.
            make: makes it.
            size_of: how many bytes it takes.
            expected: about how many it will take; others are evicted for it before it is made.
        """
        with self._lock:
            key_lock, users = self._key_locks.get(key, (Lock(), 0))
            self._key_locks[key] = key_lock, users + 1
        try:
            with key_lock:
                value = self.get(key)
                if value is None:
                    with self._lock:
                        evicted = self._evict(expected, spared=0)
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
        """Forget the value of a key, if there is one."""
        with self._lock:
            self._entries.pop(key, None)

    def clear(self) -> None:
        """Forget every value."""
        with self._lock:
            self._entries.clear()

    @property
    def size(self) -> int:
        """Bytes of all values."""
        with self._lock:
            return sum(size for _, size in self._entries.values())

    def _evict(self, more: int, *, spared: int) -> list[Key]:
        """Make room for so many bytes more, but keep so many of the latest entries; the lock is held."""
        evicted = []
        total = more + sum(size for _, size in self._entries.values())
        while len(self._entries) > spared and (
            len(self._entries) > self._max_entries or (self._max_bytes is not None and total > self._max_bytes)
        ):
            key, (_, size) = self._entries.popitem(last=False)
            total -= size
            evicted.append(key)
        return evicted


def share_of_memory(share: float) -> int:
    """Bytes of this share of the machine's memory."""
    return int(share * psutil.virtual_memory().total)
