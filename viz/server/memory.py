"""Keep memory and its collection cheap: gc.freeze() after imports, and freed memory back to the system.

Streamlit collects after every run, while all viewers wait. The collector looks at every object that may hold another
one: some 400,000 once torch and transformers are loaded, which takes a quarter of a second in which no session runs.
Nearly all of them are parts of modules and stay as long as the process. As many again are the traces and sessions of
the sentences that were read last. Frozen objects are skipped.

What pages and passes free lies between what caches keep, and glibc keeps it for what is asked next: 100 MB after some
hundred runs, and as much again as a long text keeps after its pass. It is handed back every few seconds at most. How
glibc and torch's threads are set is `model.thread_settings`.
"""

import gc
import sys
from time import monotonic, perf_counter
from typing import Final

from model.thread_settings import hand_back_memory

#: A collection that took more seconds than this looked at too much that stays.
SLOW: Final = 0.02
#: So many times what exists is frozen on top of the rest; then all is looked at once, for circles frozen while in use:
#: sessions that have ended since, 250 kB each.
MAX_FREEZES: Final = 5

_num_frozen_modules = 0
_num_freezes = 0
_began = 0.0
_is_slow = False


def freeze_kept() -> None:
    """At the end of a run that has imported something, or after a slow collection; after any other, nothing.

    What is frozen is freed all the same when nothing refers to it any more. Only circles of references would not be:
    the models, traces and sessions that pages keep hold none, and others are found when all is looked at.
    """
    global _num_frozen_modules, _num_freezes, _is_slow
    if len(sys.modules) <= _num_frozen_modules and not _is_slow:
        return
    _num_frozen_modules = len(sys.modules)
    _num_freezes += 1
    if _num_freezes % MAX_FREEZES == 0:
        gc.unfreeze()
    gc.collect()
    gc.freeze()
    _is_slow = False


def _watch(phase: str, info: dict[str, int]) -> None:
    global _began, _is_slow
    if info["generation"] < 2:
        return
    if phase == "start":
        _began = perf_counter()
    elif perf_counter() - _began > SLOW:
        _is_slow = True


if _watch not in gc.callbacks:
    gc.callbacks.append(_watch)


#: Seconds between two times: it takes 15 ms for 100 MB, in which no other thread gets memory.
INTERVAL: Final = 10.0

_last = -INTERVAL


def hand_back(interval: float = INTERVAL) -> None:
    """At the end of a run or of a layer, unless it was done less than so many seconds ago."""
    global _last
    if monotonic() - _last >= interval:
        _last = monotonic()
        hand_back_memory()
