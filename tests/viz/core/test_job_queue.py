"""Long jobs take turns: few compute at once, nobody's second before another's first, and one answer serves all."""

import threading
import time

import pytest

from model.errors import CancelledError
from viz.core.job_queue import JobQueue, QueuedJob

SOON = 10


def nothing() -> None:
    """Never ends a wait."""


def waiting(queue: JobQueue, job: QueuedJob, entered: list[QueuedJob]) -> threading.Thread:
    """A thread in which a job waits until it may compute; it is in the queue when this returns."""

    def wait() -> None:
        queue.enter(job, nothing)
        entered.append(job)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    last = time.monotonic() + SOON
    while queue.before(job) is None and job not in entered:
        assert time.monotonic() < last, "it never waited"
        time.sleep(0.01)
    return thread


def test_so_many_compute_and_the_next_is_told_how_many_are_before_it() -> None:
    queue, entered = JobQueue(1), list[QueuedJob]()
    first, second, third = (QueuedJob(viewer, viewer) for viewer in "abc")
    queue.enter(first, nothing)
    threads = [waiting(queue, job, entered) for job in (second, third)]
    assert (queue.before(first), queue.before(second), queue.before(third)) == (None, 0, 1)
    queue.leave(first)
    threads[0].join(SOON)
    assert entered == [second]
    queue.leave(second)
    threads[1].join(SOON)
    assert entered == [second, third]


def test_a_second_job_of_one_viewer_lets_the_first_of_another_go_before() -> None:
    queue, entered = JobQueue(1), list[QueuedJob]()
    queue.enter(QueuedJob("greedy", 0), nothing)
    own, of_another = QueuedJob("greedy", 1), QueuedJob("modest", 2)
    waiting(queue, own, entered)
    waiting(queue, of_another, entered)
    assert (queue.before(of_another), queue.before(own)) == (0, 1)


def test_of_two_jobs_that_compute_the_same_one_waits_for_the_answer_of_the_other() -> None:
    queue, entered = JobQueue(2), list[QueuedJob]()
    first, same, other = QueuedJob("a", "key"), QueuedJob("b", "key"), QueuedJob("c", "another")
    queue.enter(first, nothing)
    waiting(queue, same, entered)
    waiting(queue, other, entered).join(SOON)
    assert entered == [other]
    queue.leave(first, "answer")
    assert same.answer == "answer"


def test_a_wait_ends_when_the_job_is_to_stop() -> None:
    queue = JobQueue(1)
    queue.enter(QueuedJob("a", 0), nothing)

    def stop() -> None:
        raise CancelledError

    job = QueuedJob("b", 1)
    with pytest.raises(CancelledError):
        queue.enter(job, stop)
    assert queue.before(job) is None
