"""Memory that a page's thread used and freed is the system's again."""

import ctypes
import sys
from threading import Thread

import psutil
import pytest

from viz.server import memory


def resident() -> int:
    """Bytes of this process in memory."""
    return int(psutil.Process().memory_info().rss)


def is_glibc() -> bool:
    return sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim")


@pytest.mark.skipif(not is_glibc(), reason="glibc's own allocator")
def test_what_a_thread_freed_goes_back_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[bytearray] = []

    def run() -> None:
        blocks = [bytearray(10_000) for _ in range(8_000)]
        # What a cache keeps of a run lies between what the run frees.
        kept.extend(blocks[::100])

    thread = Thread(target=run)
    thread.start()
    thread.join()
    before = resident()
    monkeypatch.setattr(memory, "_last", -memory.INTERVAL)
    memory.hand_back()
    assert before - resident() > 40e6
    assert len(kept) == 80


def test_it_is_not_done_after_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[None] = []
    monkeypatch.setattr(memory, "hand_back_memory", lambda: done.append(None))
    monkeypatch.setattr(memory, "_last", -memory.INTERVAL)
    memory.hand_back()
    memory.hand_back()
    assert len(done) == 1
    memory.hand_back(0.0)
    assert len(done) == 2
