"""Run a long computation in a thread of its own: how far it is, how to stop it, what came of it.

In the thread of a page it could not be stopped: Streamlit 1.67 lets no click within a fragment interrupt a run (its
`on_scriptrunner_yield` passes over reruns of fragments), while any click elsewhere would end it unasked.
"""

import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic
from typing import Generic, TypeVar

from model.errors import CancelledError

Result = TypeVar("Result")


class Progress:
    """How far a computation is, told by its thread and read by pages."""

    def __init__(self, total: int, unit: str) -> None:
        self.total, self.unit = total, unit
        self.done = 0
        self.stopping = Event()
        self._started = monotonic()

    def __call__(self, count: int) -> None:
        """So many more units of work are done.

        Raises:
            CancelledError: the computation is to stop.
        """
        self.reached(self.done + count, self.total)

    def reached(self, done: int, total: int) -> None:
        """So many units are done in all, of so many. Raises as a call does."""
        self.done, self.total = min(done, total), total
        if self.stopping.is_set():
            raise CancelledError(f"Stopped after {self.done:,} of {total:,} {self.unit}.")

    @property
    def share(self) -> float:
        """The share of the work that is done."""
        return self.done / max(1, self.total)

    def text(self, template: str) -> str:
        """A sentence in which {done}, {next}, {total}, {unit} and {left}, the seconds still needed, are filled in."""
        left = (monotonic() - self._started) / self.done * (self.total - self.done) if self.done else 0.0
        following = min(self.done + 1, self.total)
        return template.format(done=self.done, next=following, total=self.total, unit=self.unit, left=left)


@dataclass(frozen=True)
class Task(Generic[Result]):
    """What is to be computed.

    Attributes:
        key: equal for tasks that have the same result.
        total: how many units of work there are; 0 where only the computation finds out.
        unit: what these are called, in the plural.
        compute: does the work, and calls what it is given as often as units are done.
        progress_text: what people read meanwhile, as `Progress.text` fills it in.
    """

    key: Hashable
    total: int
    unit: str
    compute: Callable[[Progress], Result] = field(compare=False)
    progress_text: str = "Computing: {done:,} of {total:,} {unit}"


@dataclass
class _Outcome:
    """What the thread leaves; it holds no job, so that a job that no session holds any more can stop."""

    result: object = None
    error: Exception | None = None
    finished: Event = field(default_factory=Event)


class Job(Generic[Result]):
    """A task under way, or finished. It stops when `stop` is called, and when no session holds it any more."""

    def __init__(self, task: Task[Result]) -> None:
        # The task itself is not kept: it holds a model, which may leave the memory once all is computed.
        self.key, self.progress, self._text = task.key, Progress(task.total, task.unit), task.progress_text
        self._outcome = _Outcome()
        weakref.finalize(self, self.progress.stopping.set)
        Thread(target=_work, args=(task, self.progress, self._outcome), daemon=True, name="headlight-job").start()

    @property
    def finished(self) -> bool:
        """Whether there is a result, or an error."""
        return self._outcome.finished.is_set()

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called."""
        return self.progress.stopping.is_set()

    @property
    def text(self) -> str:
        """How far it is, in words."""
        return self.progress.text("Stopping: {done:,} of {total:,} {unit}" if self.stopping else self._text)

    def stop(self) -> None:
        """Stop it when the next unit of work is done."""
        self.progress.stopping.set()

    def wait(self, seconds: float) -> bool:
        """Wait for its end, at most so long; whether it came."""
        return self._outcome.finished.wait(seconds)

    def result(self) -> Result:
        """What came of it, once it is finished.

        Raises:
            HeadlightError: whatever the computation raised; a CancelledError where it was stopped.
        """
        assert self.finished, "a job that is under way has no result"
        if self._outcome.error is not None:
            raise self._outcome.error.with_traceback(None)
        result: Result = self._outcome.result  # type: ignore[assignment]
        return result


def _work(task: Task[Result], progress: Progress, outcome: _Outcome) -> None:
    try:
        outcome.result = task.compute(progress)
    # Whatever it is, the page that asks for the result raises it.
    except Exception as error:
        outcome.error = error
    finally:
        outcome.finished.set()
