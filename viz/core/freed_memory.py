"""Give memory that was freed back to the system.

glibc keeps what a thread frees for the next thread that asks, scattered over an arena for each of a few threads. Every
run of a page is a thread, and what its figures and tensors leave behind is 100 MB after some hundred runs.
"""

import ctypes
from time import monotonic
from typing import Final

#: So many seconds pass between two times: it takes 15 ms for 100 MB, in which no other thread gets memory.
INTERVAL: Final = 10.0

_next = 0.0


def give_back() -> None:
    """At the end of a run, if it was not done of late; nothing where the C library is another than glibc."""
    global _next
    if monotonic() < _next:
        return
    _next = monotonic() + INTERVAL
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return
    trim(0)
