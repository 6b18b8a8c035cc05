"""Modules are frozen once; what is evicted is freed, and the system has its memory back."""

import ctypes
import gc
import sys
import types
import weakref
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import psutil
import pytest

from model import open_reader
from model.adapters.text_reader import TextReader
from tests.model.adapters.zoo import save_model
from viz.server import memory
from viz.server.memory import freeze_kept


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("thawed")
def test_what_a_run_that_imported_something_keeps_is_frozen_and_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SLOW", 1e9)
    for imports, is_frozen in ((True, True), (False, False), (True, True)):
        if imports:
            name = f"tests.{len(sys.modules)}"
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        kept = [None]
        freeze_kept()
        # The collector looks at what is not frozen.
        assert all(each is not kept for each in gc.get_objects()) == is_frozen


@pytest.mark.long
@pytest.mark.usefixtures("thawed")
def test_a_circle_that_was_frozen_in_use_is_found_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Circle:
        own: object

    circle = Circle()
    circle.own = circle
    seen = weakref.ref(circle)
    monkeypatch.setattr(memory, "SLOW", 0.0)
    del circle
    for _ in range(memory.MAX_FREEZES):
        gc.collect()
        freeze_kept()
    assert seen() is None


def test_a_model_that_is_evicted_is_freed_without_the_collector(tmp_path: Path, no_collector: None) -> None:
    save_model(tmp_path, "gpt2")
    reader = open_reader(tmp_path)
    assert isinstance(reader, TextReader)
    trace = reader.trace("the house")
    kept = [weakref.ref(one) for one in (reader, reader.model, next(reader.model.parameters()), trace)]
    del reader, trace
    assert [one() for one in kept] == [None] * len(kept)


def resident() -> int:
    """Bytes of this process in memory."""
    return int(psutil.Process().memory_info().rss)


def is_glibc() -> bool:
    return sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim")


@pytest.mark.skipif(not is_glibc(), reason="glibc's own allocator")
def test_what_a_thread_freed_goes_back_to_the_system() -> None:
    kept: list[bytearray] = []

    def run() -> None:
        blocks = [bytearray(10_000) for _ in range(8_000)]
        # What a cache keeps of a run lies between what the run frees.
        kept.extend(blocks[::100])

    thread = Thread(target=run)
    thread.start()
    thread.join()
    before = resident()
    memory.hand_back(0.0)
    assert before - resident() > 40e6
    assert len(kept) == 80
