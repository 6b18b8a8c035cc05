"""Whose turn it is to compute, when many people come at once: a page has its title first, whatever others compute.

Sessions are threads of one process, and Python runs one of them at a time. Were all to compute at once, each new page
would wait for its share of every other; so, behind its title, a page waits until few others compute. It never waits
long: a text of thousands of tokens may take a minute, and nobody shall wait for that. Knows nothing of pages or models.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, local
from typing import Final

#: So many pages compute at once without waiting for one another.
AT_ONCE: Final = max(2, os.cpu_count() or 1)
#: Seconds that a page waits for its turn at most.
PATIENCE: Final = 3.0

_TURNS: Final = BoundedSemaphore(AT_ONCE)
_MINE: Final = local()


@contextmanager
def given_back() -> Iterator[None]:
    """Around the run of a page: a turn that it took is given back, however the run ends."""
    _MINE.taken = False
    try:
        yield
    finally:
        if _MINE.taken:
            _MINE.taken = False
            _TURNS.release()


def wait() -> None:
    """Wait for a turn, behind the title and before anything is computed; a fragment that runs alone needs none."""
    if getattr(_MINE, "taken", None) is False:
        _MINE.taken = _TURNS.acquire(timeout=PATIENCE)
