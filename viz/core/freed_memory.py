"""Give memory that was freed back to the system.

glibc keeps what a thread frees for the next thread that asks, scattered over an arena for each of a few threads. Every
run of a page is a thread, and what its figures and tensors leave behind is 100 MB after some hundred runs.
"""

import ctypes
from time import monotonic
from typing import Final

#: Seconds between two times: it takes 15 ms for 100 MB, in which no other thread gets memory.
INTERVAL: Final = 10.0

_last = -INTERVAL


def give_back(interval: float = INTERVAL) -> None:
    """At the end of a run, unless it was just done: so many seconds ago. Nothing where the C library is another."""
    global _last
    if monotonic() - _last < interval:
        return
    _last = monotonic()
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return
    trim(0)
