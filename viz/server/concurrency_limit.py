"""Limit how many page runs compute at once; wait at most 3 s.

Sessions are threads of one process, and Python runs one of them at a time. Were all to compute at once, each new page
would wait for its share of every other; so, once its title is shown, a page waits until few others compute. It never
waits long: a text of thousands of tokens may take a minute. One whose computation waits in the queue of long jobs gives
its slot back meanwhile.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, local
from typing import Final

#: So many pages compute at once without waiting for one another.
MAX_RUNS: Final = max(2, os.cpu_count() or 1)
#: Seconds that a page waits at most.
MAX_WAIT: Final = 3.0

_SLOTS: Final = BoundedSemaphore(MAX_RUNS)
_THREAD: Final = local()


@contextmanager
def page_run() -> Iterator[None]:
    """Around the run of a page: release the slot that it took, however the run ends."""
    _THREAD.has_slot = False
    try:
        yield
    finally:
        release()
        # The same thread may go on with a fragment alone, which nothing would release a slot of.
        _THREAD.has_slot = None


def acquire() -> None:
    """Wait for a slot, after the title and before anything is computed; a fragment that runs alone needs none."""
    if getattr(_THREAD, "has_slot", None) is False:
        _THREAD.has_slot = _SLOTS.acquire(timeout=MAX_WAIT)


def release() -> None:
    """Give the slot of this run back, if it has one; `acquire` waits for another."""
    if getattr(_THREAD, "has_slot", False):
        _THREAD.has_slot = False
        _SLOTS.release()
