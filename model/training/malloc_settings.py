"""Tell glibc to keep the memory that a training step frees, and to hand it back on request."""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
"""Parameters of glibc's `mallopt` (malloc.h)."""


def keep_freed_memory() -> None:
    """Tell glibc to keep freed memory and to map none apart: the next step takes the same amounts again.

    Otherwise the kernel hands out and clears every page again at each step. On other systems it does nothing.
    """
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)):
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, -1)


def hand_back_memory() -> None:
    """Let the kernel have what is free now: batches of many shapes leave gaps, and a long run would grow by them."""
    if sys.platform == "linux" and (malloc_trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        malloc_trim(0)
