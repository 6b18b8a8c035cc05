"""What was used last, bounded by count and by bytes, for all threads. Knows nothing of what is kept.

Like Streamlit's `cache_resource`, but what that calls may not move a progress bar, and it counts entries, not bytes.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Kept = TypeVar("Kept")


class BoundedCache(Generic[Key, Kept]):
    """Entries by their places; what was not used for longest leaves first.

    Args:
        max_entries: so many are kept at most.
        max_bytes: so many bytes together, as their sizes were told; None for any number.
        on_leave: called with every place that was left out for others.
    """

    def __init__(
        self, max_entries: int, max_bytes: int | None = None, on_leave: Callable[[Key], None] = lambda place: None
    ) -> None:
        self._max_entries, self._max_bytes, self._on_leave = max_entries, max_bytes, on_leave
        self._entries: OrderedDict[Key, tuple[Kept, int]] = OrderedDict()
        self._lock = Lock()
        self._makers: dict[Key, Lock] = {}

    def get(self, place: Key) -> Kept | None:
        """What is kept at a place, for example the trace of (text, checkpoint digest, device), if it is still there."""
        with self._lock:
            if place not in self._entries:
                return None
            self._entries.move_to_end(place)
            return self._entries[place][0]

    def put(self, place: Key, entry: Kept, size: int = 0) -> Kept:
        """Keep this, of so many bytes, and return what is kept: another viewer may have been first.

        What is larger than all bytes that there are is returned and not kept.
        """
        if self._max_bytes is not None and size > self._max_bytes:
            return entry
        return self._keep(place, entry, size)

    def made(self, place: Key, make: Callable[[], Kept], size_of: Callable[[Kept], int], expected: int = 0) -> Kept:
        """What is kept at a place; if nothing is, it is made by one thread while others that want it wait.

        What is larger than all bytes that there are is kept alone: to make it anew each time would need as many.

        Args:
            place: of the entry.
            make: makes it.
            size_of: how many bytes it takes.
            expected: about how many it will take; what was used least makes room for them before.
        """
        with self._lock:
            maker = self._makers.setdefault(place, Lock())
        with maker:
            found = self.get(place)
            if found is None:
                with self._lock:
                    left = self._leave(expected, spared=0)
                for one in left:
                    self._on_leave(one)
                found = make()
                found = self._keep(place, found, size_of(found))
        with self._lock:
            self._makers.pop(place, None)
        return found

    def drop(self, is_meant: Callable[[Key], bool]) -> None:
        """Forget every entry whose place is meant."""
        with self._lock:
            for place in [one for one in self._entries if is_meant(one)]:
                del self._entries[place]

    @property
    def size(self) -> int:
        """Bytes of all that is kept."""
        with self._lock:
            return sum(size for _, size in self._entries.values())

    def _keep(self, place: Key, entry: Kept, size: int) -> Kept:
        with self._lock:
            kept, _ = self._entries.setdefault(place, (entry, size))
            left = self._leave(0, spared=1)
        for one in left:
            self._on_leave(one)
        return kept

    def _leave(self, more: int, *, spared: int) -> list[Key]:
        """Make room for so many bytes more, but for so many entries that came last; the lock is held."""
        left = []
        total = more + sum(size for _, size in self._entries.values())
        while len(self._entries) > spared and (
            len(self._entries) > self._max_entries or (self._max_bytes is not None and total > self._max_bytes)
        ):
            place, (_, size) = self._entries.popitem(last=False)
            total -= size
            left.append(place)
        return left
