"""A long computation in a thread of its own: how far it is, how to stop it, what came of it. Knows nothing of pages.

In the thread of a page it could not be stopped: Streamlit 1.67 lets no click within a fragment interrupt a run (its
`on_scriptrunner_yield` passes over reruns of fragments), while any click elsewhere would end it unasked.
"""

import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Generic, TypeVar

from model.errors import CancelledError

Result = TypeVar("Result")
Progress = Callable[[int], object]


@dataclass(frozen=True)
class Task(Generic[Result]):
    """What is to be computed.

    Attributes:
        place: equal for tasks that have the same result.
        total: how many units of work there are.
        unit: what these are called, in the plural.
        compute: given a function to call with the number of units done since the last call; that raises to stop it.
    """

    place: Hashable
    total: int
    unit: str
    compute: Callable[[Progress], Result] = field(compare=False)


@dataclass
class _Shared:
    """What the thread and its job both see; the thread holds no job, so that one nobody holds any more can stop."""

    done: int = 0
    result: object = None
    error: Exception | None = None
    stopping: Event = field(default_factory=Event)
    finished: Event = field(default_factory=Event)


class Job(Generic[Result]):
    """A task under way, or finished. It stops when it is told to, and when the session that holds it is gone."""

    def __init__(self, task: Task[Result]) -> None:
        self.task = task
        self._shared = _Shared()
        weakref.finalize(self, self._shared.stopping.set)
        Thread(target=_work, args=(task, self._shared), daemon=True, name="headlight-job").start()

    @property
    def done(self) -> int:
        """Units of work done."""
        return min(self._shared.done, self.task.total)

    @property
    def finished(self) -> bool:
        """Whether there is a result, or an error."""
        return self._shared.finished.is_set()

    @property
    def stopping(self) -> bool:
        """Whether it was told to stop."""
        return self._shared.stopping.is_set()

    def stop(self) -> None:
        """Tell it to stop, which it does when the next unit of work is done."""
        self._shared.stopping.set()

    def wait(self, seconds: float) -> bool:
        """Wait for its end, at most so long; whether it came."""
        return self._shared.finished.wait(seconds)

    def result(self) -> Result:
        """What came of it, once it is finished.

        Raises:
            HeadlightError: whatever the computation raised; a CancelledError where it was told to stop.
        """
        assert self.finished, "a job that is under way has no result"
        if self._shared.error is not None:
            raise self._shared.error.with_traceback(None)
        found: Result = self._shared.result  # type: ignore[assignment]
        return found


def _work(task: Task[Result], shared: _Shared) -> None:
    def progress(count: int) -> None:
        shared.done += count
        if shared.stopping.is_set():
            raise CancelledError(f"Stopped after {min(shared.done, task.total):,} of {task.total:,} {task.unit}.")

    try:
        shared.result = task.compute(progress)
    # Whatever it is, the page that asks for the result raises it.
    except Exception as error:
        shared.error = error
    finally:
        shared.finished.set()
