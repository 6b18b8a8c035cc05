"""Tell torch's threads how to wait, before torch is imported, and glibc how to keep memory that is freed."""

import ctypes
import os
import sys


def sleep_while_waiting() -> None:
    """Let OpenMP's threads leave their core at once when they have to wait, where they would keep it busy for a while.

    Alone on its cores a product gains nothing by it and loses nothing. Beside a browser that draws, or another session,
    threads that keep a core busy wait for one that has none: decoding a sentence then took ten times as long. What a
    person has set in the environment stays.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


M_TRIM_THRESHOLD, M_MMAP_MAX, M_ARENA_MAX = -1, -4, -8
"""Parameters of glibc's `mallopt` (malloc.h)."""


def keep_freed_memory() -> None:
    """Let glibc keep freed memory, and map none apart, so that no step clears every page of it again."""
    _set(M_MMAP_MAX, 0)
    _set(M_TRIM_THRESHOLD, -1)


def share_heaps(count: int = 2) -> None:
    """Let all threads share so many heaps ("arenas"), where glibc would make eight for each core.

    A server runs each page in a new thread. What these leave behind, such as a sentence's trace, would keep all those
    heaps from shrinking.
    """
    _set(M_ARENA_MAX, count)


def hand_back_memory() -> None:
    """Let the kernel have what is free now: batches of many shapes leave gaps, and a long run would grow by them."""
    if sys.platform == "linux" and (malloc_trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        malloc_trim(0)


def _set(parameter: int, value: int) -> None:
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)):
        mallopt(parameter, value)
