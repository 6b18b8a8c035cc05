"""Hand memory that was freed back to the system, every few seconds at most, while runs and long passes go on.

What pages and passes free lies between what caches keep, and glibc keeps it for what is asked next: 100 MB after some
hundred runs, and as much again as a long text keeps after its pass.
"""

from time import monotonic
from typing import Final

from model.thread_settings import hand_back_memory

#: Seconds between two times: it takes 15 ms for 100 MB, in which no other thread gets memory.
INTERVAL: Final = 10.0

_last = -INTERVAL


def hand_back(interval: float = INTERVAL) -> None:
    """At the end of a run or of a layer, unless it was done less than so many seconds ago."""
    global _last
    if monotonic() - _last >= interval:
        _last = monotonic()
        hand_back_memory()
