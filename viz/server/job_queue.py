"""Queue long computations: few compute at once, nobody's second before another's first, and one answer serves all."""

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Condition
from time import monotonic
from typing import Final

from model.errors import CancelledError
from viz.server import limits

#: Long jobs that compute at once.
MAX_LONG: Final = limits.MAX_RUNS
#: Seconds between two checks whether a waiting job should stop.
INTERVAL: Final = 0.2
#: Seconds that a job computes while others wait.
TURN: Final = 5.0
#: A job that has come to no step for so many seconds holds up nobody: it may wait for what a waiting job keeps locked.
STALLED: Final = 30.0


def _stops_nothing() -> None:
    """Do nothing, for a job that nobody can stop."""


@dataclass(slots=True, eq=False)
class QueuedJob:
    """A job, as the queue knows it."""

    viewer: str  #: whose job it is
    key: Hashable  #: what it computes; of two jobs with the same key one computes and the other waits for its answer
    text: Callable[[], str] = lambda: ""  #: what it is and how far, for whoever waits for it
    stop: Callable[[], None] = _stops_nothing  #: ends it, when its next step is done
    answer: object = None  #: the outcome of another job with the same key
    waited: float = 0.0  #: seconds that it has waited
    turns: int = 0  #: number of turns it has had
    since: float = field(default_factory=monotonic)  #: start of its turn, by `monotonic`
    seen: float = field(default_factory=monotonic)  #: time of its last step


class JobQueue:
    """The `most` long jobs that compute at once, and those that wait.

    `of_one`: jobs of one viewer at once, None for what this server allows; `turn`: seconds of one while others wait.
    """

    def __init__(self, most: int = MAX_LONG, of_one: int | None = None, turn: float = TURN) -> None:
        self._most, self._of_one, self._turn = most, of_one, turn
        self._computing: list[QueuedJob] = []
        self._waiting: list[QueuedJob] = []
        self._changed = Condition()

    def enter(self, job: QueuedJob, check: Callable[[], None]) -> None:
        """Wait until the job may compute; `check` may end this. Raises a CancelledError where too many wait."""
        most = limits.rules().waiting
        with self._changed:
            if most is not None and sum(other.viewer == job.viewer for other in self._waiting) >= most:
                message = "You have {most} computations waiting. Stop one of them, then start this one again."
                raise CancelledError(message, most=most)
            self._waiting.append(job)
            self._wait(job, check)

    def give_way(self, job: QueuedJob, check: Callable[[], None]) -> None:
        """Between two steps of a job: when its turn is over and another viewer's job waits, let that compute."""
        now = job.seen = monotonic()
        if now - job.since < self._turn:
            return
        with self._changed:
            if all(other.viewer == job.viewer for other in self._next(without=job)):
                return
            self._computing.remove(job)
            # Its viewer goes to the end of the queue, with all that waits of theirs, in its order.
            own = [other for other in self._waiting if other.viewer == job.viewer]
            self._waiting = [other for other in self._waiting if other.viewer != job.viewer] + [job, *own]
            self._changed.notify_all()
            self._wait(job, check)

    def leave(self, job: QueuedJob, answer: object = None) -> None:
        """Remove a finished job; its answer, if any, goes to all jobs that wait to compute the same."""
        with self._changed:
            if job in self._computing:
                self._computing.remove(job)
            for waiting in self._waiting:
                if waiting.key == job.key:
                    waiting.answer = answer
            self._changed.notify_all()

    def before(self, job: QueuedJob) -> int | None:
        """How many jobs wait before this one; None if it does not wait."""
        with self._changed:
            return self._order().index(job) if job in self._waiting else None

    def own_before(self, job: QueuedJob) -> QueuedJob | None:
        """The job of the same viewer for which this one waits; None if it waits for others, or not at all."""
        with self._changed:
            if job not in self._waiting:
                return None
            waiting = self._waiting[: self._waiting.index(job)]
            own = [other for other in [*self._computing, *waiting] if other.viewer == job.viewer]
            return own[0] if len(own) >= self._most_of_one() else None

    def _wait(self, job: QueuedJob, check: Callable[[], None]) -> None:
        """Wait until this queued job may compute; the lock is held."""
        began = monotonic()
        try:
            while job not in self._next():
                self._changed.wait(INTERVAL)
                check()
            check()
            self._computing.append(job)
            job.turns += 1
        finally:
            self._waiting.remove(job)
            job.since = job.seen = monotonic()
            job.waited += job.since - began
            self._changed.notify_all()

    def _next(self, without: QueuedJob | None = None) -> list[QueuedJob]:
        """The waiting jobs that may compute now, or could if one of those that compute had ended."""
        since = monotonic() - STALLED
        computing = [job for job in self._computing if job is not without and job.seen > since]
        keys = {job.key for job in computing}
        begun = {job.key: job for job in self._waiting if job.turns}
        viewers = Counter(job.viewer for job in computing)
        chosen: list[QueuedJob] = []
        for job in self._order():
            # What another has begun to compute is not begun a second time.
            is_awaited = job.key in keys or begun.get(job.key, job) is not job
            if not is_awaited and viewers[job.viewer] < self._most_of_one():
                viewers[job.viewer] += 1
                chosen.append(job)
        return chosen[: max(0, self._most - len(computing))]

    def _most_of_one(self) -> int:
        return limits.rules().at_once if self._of_one is None else self._of_one

    def _order(self) -> list[QueuedJob]:
        """The waiting jobs, first come first served, but no viewer's second job before another viewer's first."""
        viewers = Counter(job.viewer for job in self._computing)
        ranked = []
        for arrival, job in enumerate(self._waiting):
            ranked.append((viewers[job.viewer], arrival, job))
            viewers[job.viewer] += 1
        return [job for _, _, job in sorted(ranked, key=lambda rank: rank[:2])]
