"""Let whoever runs a long computation follow it, end it, or let it wait, between any two passes through a model.

What counts whole units of work would be told too seldom: a batch of a hundred sentences is one unit, and is translated
in some eighty passes. The check is in a `ContextVar`, so each thread and each viewer has its own.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

Check = Callable[[], object]
Progress = Callable[[int], object]
"""Told how much was done since the last call; it may end the work by an exception."""


class Kept(int):
    """A number of units that an earlier run has done: they took no time now, so they tell nothing about the pace."""


_CHECK: Final[ContextVar[Check | None]] = ContextVar("headlight_interruption", default=None)


@contextmanager
def interruptible(check: Check) -> Iterator[None]:
    """Have `check` called again and again while the block runs, in this thread only; it may end it by an exception."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def pause() -> None:
    """Call the check of whoever runs this, if there is one; before anything of a step has changed."""
    check = _CHECK.get()
    if check is not None:
        check()


def no_progress(*done: int) -> None:
    """Do nothing."""
