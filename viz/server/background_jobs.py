"""Run a long computation in a separate thread: how far it is, how to stop it, what came of it.

In the thread of a page it could not be stopped: Streamlit 1.67 lets no click within a fragment interrupt a run (its
`on_scriptrunner_yield` passes over reruns of fragments), while any click elsewhere would end it unasked.

A job stops when its viewer has gone, between two passes through a model at the latest, or when it has computed for
longer than a shared server allows. It waits in the queue only when it turns out to be long, so what is done in a second
never waits behind what takes minutes: few long jobs compute at once, and of one viewer fewer. One that has computed for
a turn lets the next viewer's compute, between two steps, and goes on when it is its turn again. What nobody has asked
for computes only while no page and no other job does.

When Python ends it cuts off every daemon thread where that next asks for the interpreter; in the middle of torch's code
this is an error that ends the process with a core dump. So jobs are stopped, and waited for, first.
"""

import atexit
import os
import sys
import weakref
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Thread
from threading import enumerate as all_threads
from time import monotonic, sleep
from typing import Final, Generic, TypeVar

from model import stopping
from model.errors import CancelledError, memory_short
from model.interruption import Kept, interruptible
from viz.server import limits, viewers
from viz.server.job_queue import JobQueue, QueuedJob
from viz.text.messages import _, plural, said, shown

LONG_JOBS: Final = JobQueue()
#: What nobody has asked for: one of these at once, and only while nobody waits for anything else.
UNASKED: Final = JobQueue(1)

Result = TypeVar("Result")
#: A job that computes for more seconds counts as long.
SHORT: Final = 1.0
#: What nobody has asked for looks so often, in seconds, whether others work.
SPARE: Final = 0.05
#: Tasks that run in this process.
_RUNS: "weakref.WeakSet[_Run]" = weakref.WeakSet()


def _nothing() -> None:
    """Do nothing."""


class Progress:
    """Progress of a computation: its thread writes it, pages read it. `unit` is in the plural.

    `on_unit` is called when units are done; it may wait, or raise a CancelledError to end the computation.
    """

    def __init__(self, total: int, unit: str, on_unit: Callable[[], None] = _nothing) -> None:
        self.total, self.unit, self.on_unit = total, unit, on_unit
        self.done = 0
        self.stopping = Event()
        self._kept, self._started = 0, monotonic()

    def __call__(self, count: int) -> None:
        """Count `count` more units as done. Raises a CancelledError if the computation is to stop."""
        if isinstance(count, Kept):
            if not self.computed:
                self._started = monotonic()
            self._kept += count
        self.reached(self.done + count, self.total)

    def reached(self, done: int, total: int) -> None:
        """Set the units done and the total. Raises as a call does."""
        self.done, self.total = min(done, total), total
        self.pause()

    def pause(self) -> None:
        """Wait or end between two steps of a unit, as after a unit. Raises as a call does."""
        self.check()
        self.on_unit()

    def check(self) -> None:
        """Raise a CancelledError if the computation is to stop."""
        if self.stopping.is_set():
            message = "Stopped after {done:,} of {total:,} {unit}."
            raise CancelledError(message, done=self.done, total=self.total, unit=said(self.unit))

    @property
    def reached_of(self) -> tuple[int, int, str]:
        """Units done, total units, name of the unit."""
        return self.done, self.total, self.unit

    @property
    def computed(self) -> int:
        """The units done now, not by an earlier run."""
        return self.done - self._kept

    @property
    def share(self) -> float:
        """The share of the work that is done."""
        return self.done / max(1, self.total)

    def text(self, template: str) -> str:
        """A sentence in which {done}, {next}, {total}, {unit} and {left}, the seconds still needed, are filled in."""
        pace = (monotonic() - self._started) / self.computed if self.computed > 0 else 0.0
        following = min(self.done + 1, self.total)
        return _(
            template,
            done=self.done,
            next=following,
            total=self.total,
            unit=_(self.unit),
            left=pace * (self.total - self.done),
        )


@dataclass(frozen=True)
class Task(Generic[Result]):
    """A computation to run."""

    key: Hashable  #: equal for tasks with the same result
    total: int  #: units of work; 0 where only the computation finds out
    unit: str  #: what these are called, in the plural
    #: does the work; it calls its argument when units are done.
    compute: Callable[[Progress], Result] = field(compare=False)
    #: shown meanwhile, filled in by `Progress.text`.
    progress_text: str = said("Computing: {done:,} of {total:,} {unit}")
    #: whether nobody has asked for it: then it computes only while no page and no other job does.
    is_unasked: bool = field(default=False, compare=False)


@dataclass
class _Outcome:
    """The result or the error of a computation."""

    result: object = None
    error: Exception | None = None


class _AnsweredError(CancelledError):
    """Another job has computed the same result meanwhile."""


class _Run:
    """A task that runs in its thread. It holds no `Job`, so that a job can stop once no session holds it."""

    def __init__(self, task: Task[Result], viewer: str, browser: str, name: str) -> None:
        self.progress = Progress(task.total, task.unit, self._wait_if_long)
        text = partial(_named, name, self.progress)
        # Outside of a page nobody can be told from another, so each job has a viewer of its own.
        self.queued = QueuedJob(browser or f"job {id(self)}", task.key, text, self.progress.stopping.set)
        self.finished = Event()
        self.outcome = _Outcome()
        self.queue, self._patience = (UNASKED, 0.0) if task.is_unasked else (LONG_JOBS, SHORT)
        self._began, self._has_waited = monotonic(), False
        undo = viewers.when_gone(viewer, self.progress.stopping.set) if viewer else None
        _RUNS.add(self)
        Thread(target=self._work, args=(task, undo), daemon=True, name=JOB_THREAD).start()

    def _work(self, task: Task[Result], undo: Callable[[], None] | None) -> None:
        try:
            with nullcontext() if task.is_unasked else limits.at_work(), interruptible(self.progress.pause):
                if task.is_unasked:
                    self.progress.pause()
                self.outcome.result = task.compute(self.progress)
        except _AnsweredError:
            assert isinstance(self.queued.answer, _Outcome), "whoever was answered has an answer"
            self.outcome = self.queued.answer
        # Whatever it is, the page that asks for the result raises it.
        except Exception as error:
            self.outcome.error = memory_short(error) or error
        finally:
            # Else the two would hold each other, and the result with them.
            self.progress.on_unit = _nothing
            self.queue.leave(self.queued, None if isinstance(self.outcome.error, CancelledError) else self.outcome)
            self.finished.set()
            if undo is not None:
                undo()

    def _wait_if_long(self) -> None:
        """Queue the job once it turns out to be long, and again at the end of each of its turns; let others work first
        where nobody has asked for it.
        """
        computed = monotonic() - self._began - self.queued.waited
        limits.check(computed, self.progress.reached_of)
        if self._has_waited:
            self.queue.give_way(self.queued, self._check)
        elif computed > self._patience:
            self.queue.enter(self.queued, self._check)
            self._has_waited = True
        while self.queue is UNASKED and limits.is_busy():
            self._check()
            self.queued.seen = monotonic()
            sleep(SPARE)

    def _check(self) -> None:
        self.progress.check()
        if self.queued.answer is not None:
            raise _AnsweredError


def _named(name: str, progress: Progress) -> str:
    """Name and progress of a computation, for the sentence of a job that waits for it."""
    if not progress.total:
        return shown(name)
    message = "{name}: {done:,} of {total:,} {unit}"
    return _(message, name=shown(name), done=progress.done, total=progress.total, unit=_(progress.unit))


class Job(Generic[Result]):
    """A task that runs or has finished; its viewer sees its name where another computation of theirs waits for it.

    It stops when `stop` is called, when the viewer who began it has gone, or when no session holds it.
    """

    def __init__(self, task: Task[Result], name: str = "what a page shows") -> None:
        # The task itself is not kept: it holds a model, which may leave the memory once all is computed.
        self.key, self._text = task.key, task.progress_text
        self._run = _Run(task, viewers.current(), viewers.browser(), name)
        weakref.finalize(self, self.progress.stopping.set)

    @property
    def progress(self) -> Progress:
        """Its progress."""
        return self._run.progress

    @property
    def finished(self) -> bool:
        """Whether there is a result, or an error."""
        return self._run.finished.is_set()

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called."""
        return self.progress.stopping.is_set()

    @property
    def before(self) -> int | None:
        """Number of long jobs that wait before it; None if it does not wait."""
        return self._run.queue.before(self._run.queued)

    @property
    def own_before(self) -> QueuedJob | None:
        """The computation of the same viewer for which it waits; None if it waits for others, or not at all."""
        return self._run.queue.own_before(self._run.queued)

    @property
    def text(self) -> str:
        """Its progress, in words."""
        if self.stopping:
            return self.progress.text(said("Stopping: {done:,} of {total:,} {unit}"))
        if (own := self.own_before) is not None:
            return _("Waiting for your other computation ({name}). Stop that one?", name=own.text())
        if (before := self.before) is not None:
            if not before:
                return _("Waiting for others' computations: you are next")
            return plural(
                "Waiting for others' computations: {count} before you",
                "Waiting for others' computations: {count} before you",
                before,
            )
        if not self.progress.total:
            # Only the computation finds out how much there is to do.
            return _("Starting …")
        # Before anything is computed, nobody knows how long the rest takes.
        is_known = self.progress.computed > 0 or "{left" not in self._text
        return self.progress.text(self._text if is_known else Task.progress_text)

    def stop(self) -> None:
        """Stop it when the next unit of work is done."""
        self.progress.stopping.set()

    def wait(self, seconds: float) -> bool:
        """Wait for its end, at most `seconds`; return whether it has finished."""
        return self._run.finished.wait(seconds)

    def result(self) -> Result:
        """Its result, once it has finished.

        Raises what the computation raised: a CancelledError where it was stopped.
        """
        assert self.finished, "a job that is under way has no result"
        outcome = self._run.outcome
        if outcome.error is not None:
            raise outcome.error.with_traceback(None)
        result: Result = outcome.result  # type: ignore[assignment]
        return result


def _stop_all() -> None:
    for run in list(_RUNS):
        run.progress.stopping.set()


#: Seconds to wait for threads; then the process ends without them.
PATIENCE: Final = 5.0
#: The threads of our jobs, those in which Streamlit runs pages, and the one that loads what the first page needs.
JOB_THREAD: Final = "headlight-job"
PAGE_THREAD: Final = "ScriptRunner.scriptThread"
LOADING_THREAD: Final = "headlight-loading"


def at_end(stop: Callable[[], None]) -> None:
    """When the process ends, call `stop`, which tells jobs to stop; then wait for them and for page runs.

    What is loading has nothing to clean up and is not waited for; and what ends by Ctrl-C ends with its exit code.
    """
    atexit.register(_end, stop)


def _end(stop: Callable[[], None]) -> None:
    stop()
    last = monotonic() + PATIENCE
    threads = [thread for thread in all_threads() if thread.name in (JOB_THREAD, PAGE_THREAD, LOADING_THREAD)]
    for thread in threads:
        if thread.name != LOADING_THREAD:
            thread.join(max(0.0, last - monotonic()))
    is_pressed = stopping.was_noticed()
    if is_pressed or any(thread.is_alive() for thread in threads):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(stopping.INTERRUPTED if is_pressed else 0)


at_end(_stop_all)
