"""Let few long jobs compute at once; the others wait in a fair queue: who has fewer jobs before goes first.

A job waits only when it turns out to be long, so what is done in a second never waits behind what takes minutes.
"""

import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Condition
from typing import Final

#: So many long jobs compute at once.
MAX_LONG: Final = max(2, os.cpu_count() or 1)
#: Seconds between two looks whether a waiting job is to stop.
INTERVAL: Final = 0.2


@dataclass(slots=True, eq=False)
class QueuedJob:
    """What the queue knows of a job.

    Attributes:
        viewer: whose job it is.
        key: what it computes; of two of the same key one computes, and the other waits for its answer.
        answer: what another job of the same key came to.
    """

    viewer: str
    key: Hashable
    answer: object = None


class JobQueue:
    """The long jobs that compute, and those that wait."""

    def __init__(self, most: int = MAX_LONG) -> None:
        self._most = most
        self._computing: list[QueuedJob] = []
        self._waiting: list[QueuedJob] = []
        self._changed = Condition()

    def enter(self, job: QueuedJob, check: Callable[[], None]) -> None:
        """Wait until this job may compute; `check` is called again and again and ends the wait by an exception."""
        with self._changed:
            self._waiting.append(job)
            try:
                while not self._may_compute(job):
                    self._changed.wait(INTERVAL)
                    check()
                check()
                self._computing.append(job)
            finally:
                self._waiting.remove(job)
                self._changed.notify_all()

    def leave(self, job: QueuedJob, answer: object = None) -> None:
        """This job is over; its answer, if it has one, is that of all who wait to compute the same."""
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

    def _may_compute(self, job: QueuedJob) -> bool:
        keys = {computing.key for computing in self._computing}
        free = self._most - len(self._computing)
        return job in [waiting for waiting in self._order() if waiting.key not in keys][: max(0, free)]

    def _order(self) -> list[QueuedJob]:
        """Who waits, first come first served, but nobody's second job before another's first."""
        viewers = [job.viewer for job in self._computing]
        ranked = []
        for arrival, job in enumerate(self._waiting):
            ranked.append((viewers.count(job.viewer), arrival, job))
            viewers.append(job.viewer)
        return [job for _, _, job in sorted(ranked, key=lambda rank: rank[:2])]


LONG_JOBS: Final = JobQueue()
