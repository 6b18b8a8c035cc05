"""Modules are frozen once; what is evicted is freed, and the system has its memory back."""

import ctypes
import gc
import sys
import types
import weakref
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import psutil
import pytest

from model import Translator, open_reader
from model.adapters.text_reader import TextReader
from tests.model.adapters.zoo import save_model
from viz.server import memory


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def thawed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The collector, and the count of frozen modules, as in a new process."""
    monkeypatch.setattr(memory, "_num_frozen_modules", 0)
    monkeypatch.setattr(memory, "_num_freezes", 0)
    monkeypatch.setattr(memory, "SLOW", 1e9)
    monkeypatch.setattr(memory, "_is_slow", False)
    yield
    gc.unfreeze()


def test_only_a_run_that_imported_something_freezes(thawed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.freeze_kept()
    before = gc.get_freeze_count()
    assert before > 10_000
    kept: list[list[None]] = [[] for _ in range(5_000)]
    memory.freeze_kept()
    assert gc.get_freeze_count() <= before
    monkeypatch.setitem(sys.modules, "tests.one_more", types.ModuleType("one_more"))
    memory.freeze_kept()
    # What else goes meanwhile is a few objects.
    assert gc.get_freeze_count() >= before + 0.9 * len(kept)


def test_what_made_a_collection_slow_is_frozen_at_the_end_of_the_next_run(
    thawed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.freeze_kept()
    before, kept = gc.get_freeze_count(), [[None] for _ in range(5_000)]
    monkeypatch.setattr(memory, "SLOW", 0.0)
    gc.collect()
    memory.freeze_kept()
    # What else goes meanwhile is a few objects.
    assert gc.get_freeze_count() >= before + 0.9 * len(kept)


@pytest.mark.parametrize(
    ("generation", "most", "is_slow"), [(2, 0.0, True), (2, 60.0, False), (1, 0.0, False), (0, 0.0, False)]
)
def test_only_a_whole_collection_can_be_slow(
    thawed: None, monkeypatch: pytest.MonkeyPatch, generation: int, most: float, is_slow: bool
) -> None:
    monkeypatch.setattr(memory, "_began", -1e9)
    monkeypatch.setattr(memory, "SLOW", most)
    for phase in ("start", "stop"):
        memory._watch(phase, {"generation": generation} if generation < 2 or phase == "stop" else {"generation": 2})
    assert memory._is_slow == (is_slow if generation == 2 else False)


def test_everything_is_collected_after_so_many_freezes(thawed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    names = ("unfreeze", "collect", "freeze")
    collector = SimpleNamespace(**{name: partial(called.append, name) for name in names})
    with monkeypatch.context() as patch:
        patch.setattr(memory, "gc", collector)
        for _ in range(2 * memory.MAX_FREEZES):
            patch.setattr(memory, "_is_slow", True)
            memory.freeze_kept()
    once = ["collect", "freeze"]
    assert called == 2 * [*(memory.MAX_FREEZES - 1) * once, "unfreeze", *once]


@pytest.mark.long
def test_a_circle_that_was_frozen_in_use_is_found_in_the_end(thawed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Circle:
        own: object

    circle = Circle()
    circle.own = circle
    seen = weakref.ref(circle)
    monkeypatch.setattr(memory, "SLOW", 0.0)
    gc.collect()
    memory.freeze_kept()
    del circle
    gc.collect()
    assert seen() is not None
    for _ in range(memory.MAX_FREEZES):
        gc.collect()
        memory.freeze_kept()
    assert seen() is None


@pytest.mark.parametrize("model_type", ["gpt2", "bert", "t5"])
def test_a_model_that_is_evicted_is_freed_without_the_collector(
    model_type: str, tmp_path: Path, no_collector: None
) -> None:
    save_model(tmp_path, model_type)
    reader = open_reader(tmp_path)
    assert isinstance(reader, TextReader)
    trace = reader.trace("the house")
    kept = [weakref.ref(one) for one in (reader, reader.model, next(reader.model.parameters()), trace)]
    del reader, trace
    assert [one() for one in kept] == [None] * len(kept)


def test_a_translator_and_its_session_are_freed_without_the_collector(
    tiny_checkpoints: Path, no_collector: None
) -> None:
    reader = open_reader(tiny_checkpoints / "en-de")
    assert isinstance(reader, Translator)
    session = reader.decode("Tom was late.")
    session.run()
    kept = [weakref.ref(one) for one in (reader, reader.model, session)]
    del reader, session
    assert [one() for one in kept] == [None] * len(kept)


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
    began = memory._last
    for seconds, count in ((memory.INTERVAL - 0.1, 2), (memory.INTERVAL, 3)):
        monkeypatch.setattr(memory, "monotonic", lambda seconds=seconds: began + seconds)
        memory.hand_back()
        assert len(done) == count
