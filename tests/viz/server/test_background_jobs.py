"""A long computation in a thread: its progress, its end by a click, by an error, and by a session that is gone."""

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Never

import pytest
import torch

from model import interruption
from model.errors import CancelledError, MemoryShortError, TimeLimitError
from model.over_corpus import Partial, Sum, over_corpus
from tests.paths import ROOT
from tests.patience import PATIENCE
from viz.server import background_jobs, limits
from viz.server.background_jobs import Job, Progress, Task


def _refused_by_the_allocator() -> RuntimeError:
    """What torch raises on a CPU."""
    with pytest.raises(RuntimeError) as raised:
        torch.empty(2**60, dtype=torch.int8)
    return raised.value


def waiting(begun: threading.Event, stopped: threading.Event) -> Task[str]:
    """Works until it is told to stop."""

    def compute(progress: Progress) -> Never:
        try:
            while True:
                progress(0)
                begun.set()
        except CancelledError:
            stopped.set()
            raise

    return Task("key", 5, "units", compute)


def test_a_job_that_no_session_holds_any_more_stops() -> None:
    begun, stopped = threading.Event(), threading.Event()
    job = Job(waiting(begun, stopped))
    assert begun.wait(PATIENCE)
    del job
    gc.collect()
    assert stopped.wait(PATIENCE)


def test_progress_is_read_as_a_sentence_and_a_total_may_become_known() -> None:
    progress = Progress(1_200, "sentences")
    assert progress.text("{next} of {total:,}, about {left:.0f} s") == "1 of 1,200, about 0 s"
    progress(1_200)
    assert progress.text("{done:,} of {total:,} {unit}, then {next:,}") == "1,200 of 1,200 sentences, then 1,200"
    assert progress.share == 1
    progress = Progress(0, "tokens")
    assert progress.share == 0
    progress.reached(3, 12)
    assert (progress.done, progress.total, progress.share) == (3, 12, 0.25)
    # Where it is not known how much there is to do, nothing is said to be done.
    unknown = Progress(0, "tokens")
    unknown(3)
    assert (unknown.done, unknown.share) == (0, 0)


def test_what_an_earlier_run_kept_says_nothing_about_the_seconds_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 100.0
    monkeypatch.setattr(background_jobs, "monotonic", lambda: clock)
    told: list[str] = []
    words, stops_at = list("abcdefghij"), "g"
    is_held = threading.Event()

    def of_chunk(chunk: Sequence[str], progress: interruption.Progress) -> Partial:
        nonlocal clock
        if stops_at in chunk:
            raise CancelledError("Stopped.")
        clock += 20.0 * len(chunk)
        progress(len(chunk))
        return Partial({"count": len(chunk)}, {})

    summed = Sum[str, int](of_chunk=of_chunk, finish=lambda total: int(total.sums["count"]), name=lambda: "words")

    def compute(progress: Progress) -> int:
        assert is_held.wait(PATIENCE)

        def heard(count: int) -> None:
            progress(count)
            told.append(job.text)

        return over_corpus(words, summed, heard, tmp_path, texts_at_once=2)

    task = Task("words", len(words), "words", compute, "{done} of {total}, about {left:.0f} s left")
    job = Job(task)
    is_held.set()
    assert job.wait(PATIENCE)
    assert told[-1] == "6 of 10, about 80 s left"
    is_held.clear()
    told, stops_at, clock = [], "none", 0.0
    job = Job(task)
    is_held.set()
    assert job.wait(PATIENCE)
    assert job.result() == 10
    kept, computed = told[:3], told[3:]
    assert not any("left" in text for text in kept)
    assert computed == ["8 of 10, about 40 s left", "10 of 10, about 0 s left"]


def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    last = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < last, "it never was"
        time.sleep(0.01)


def test_what_nobody_has_asked_for_waits_for_pages_and_jobs_and_is_stopped_while_it_waits() -> None:
    begun, stopped = threading.Event(), threading.Event()
    steps = 0

    def compute(progress: Progress) -> Never:
        nonlocal steps
        while True:
            steps += 1
            # As between two layers of a pass.
            interruption.pause()
            time.sleep(0.01)

    with limits.page_run():
        job = Job(Task("unasked", 5, "texts", compute, is_unasked=True))
        assert not job.wait(0.3)
        assert not steps
    until(lambda: steps > 0)
    asked = Job(waiting(begun, stopped))
    assert begun.wait(PATIENCE)
    # The step that was under way ends.
    time.sleep(0.1)
    before = steps
    assert not job.wait(0.3)
    assert steps == before
    asked.stop()
    until(lambda: steps > before)
    with limits.at_work():
        job.stop()
        assert job.wait(PATIENCE)
    with pytest.raises(CancelledError, match="Stopped after 0 of 5 texts"):
        job.result()


def test_of_two_that_nobody_has_asked_for_one_reads_and_both_have_its_answer() -> None:
    go_on, computed = threading.Event(), list[str]()

    def task(name: str) -> Task[str]:
        def compute(progress: Progress) -> str:
            computed.append(name)
            assert go_on.wait(PATIENCE)
            progress(1)
            return name

        return Task("same", 1, "texts", compute, is_unasked=True)

    first = Job(task("first"))
    until(lambda: bool(computed))
    second = Job(task("second"))
    until(lambda: second.before == 0)
    go_on.set()
    assert second.wait(PATIENCE)
    assert (first.result(), second.result(), computed) == ("first", "first", ["first"])


def test_a_job_stops_within_a_unit_where_the_model_looks_whether_to() -> None:
    begun = threading.Event()

    def compute(progress: Progress) -> Never:
        while True:
            interruption.pause()
            begun.set()

    job = Job(Task("key", 5, "units", compute))
    assert begun.wait(PATIENCE)
    job.stop()
    assert job.wait(PATIENCE)
    with pytest.raises(CancelledError, match="Stopped after 0 of 5 units"):
        job.result()


@pytest.mark.usefixtures("shared")
def test_on_a_shared_server_a_job_ends_after_its_time_between_two_steps_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began = time.monotonic()
    monkeypatch.setattr(background_jobs, "monotonic", lambda: began + (time.monotonic() - began) * 10_000)

    def compute(progress: Progress) -> Never:
        while True:
            time.sleep(0.01)
            progress(1)

    job = Job(Task(object(), 1_000_000, "rows", compute))
    assert job.wait(PATIENCE)
    with pytest.raises(TimeLimitError, match=r"of 1,000,000 rows: this server is shared and limits .* 120 seconds"):
        job.result()


@pytest.mark.parametrize(
    "error", [MemoryError(), torch.OutOfMemoryError("CUDA out of memory."), _refused_by_the_allocator()]
)
def test_a_job_without_enough_memory_says_what_to_do(error: Exception) -> None:
    def compute(progress: Progress) -> Never:
        raise error

    job = Job(Task("key", 1, "units", compute))
    assert job.wait(PATIENCE)
    with pytest.raises(MemoryShortError, match="Choose a shorter text or a smaller model"):
        job.result()


COMPUTING = """
import threading, torch
from viz.server.background_jobs import Job, Task

def compute(progress):
    layers = torch.nn.Sequential(*(torch.nn.Linear(500, 500) for _ in range(20)))
    with torch.inference_mode():
        while True:
            layers(torch.ones(300, 500))
            begun.set()
            progress(1)

begun = threading.Event()
jobs = [Job(Task(number, 1, "passes", compute)) for number in range(3)]
assert begun.wait(60)
"""


@pytest.mark.long
def test_a_process_ends_in_order_while_jobs_compute() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", COMPUTING], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE
    )
    assert (ended.returncode, "terminate called" in ended.stderr) == (0, False), ended.stderr
