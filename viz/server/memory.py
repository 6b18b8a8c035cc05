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

#: A collection that takes more seconds looks at too many lasting objects.
SLOW: Final = 0.02
#: After so many freezes everything is collected once, to free cycles that were frozen while in use: ended sessions,
#: 250 kB each.
MAX_FREEZES: Final = 5

_num_frozen_modules = 0
_num_freezes = 0
_began = 0.0
_is_slow = False


def freeze_kept() -> None:
    """Freeze all objects, at the end of a run that has imported modules or after a slow collection; else do nothing.

    A frozen object is still freed when nothing refers to it. Only reference cycles are not: the models, traces and
    sessions that pages keep have none, and others are found when everything is collected again.
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


#: Least seconds between two calls: 100 MB take 15 ms, in which no other thread gets memory.
INTERVAL: Final = 10.0

_last = 0.0


def hand_back(interval: float = INTERVAL) -> None:
    """Return freed memory to the system, unless that was done less than `interval` seconds ago."""
    global _last
    if monotonic() - _last >= interval:
        _last = monotonic()
        hand_back_memory()
