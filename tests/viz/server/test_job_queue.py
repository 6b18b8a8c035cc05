"""Long jobs take turns: few compute at once, nobody's second before another's first, and one answer serves all."""

import threading
import time

import pytest

from model.errors import CancelledError
from tests.patience import PATIENCE
from viz.server import job_queue
from viz.server.job_queue import JobQueue, QueuedJob


def nothing() -> None:
    """Never ends a wait."""


def waiting(queue: JobQueue, job: QueuedJob, entered: list[QueuedJob]) -> threading.Thread:
    """A thread in which a job waits until it may compute; it is in the queue when this returns."""

    def wait() -> None:
        queue.enter(job, nothing)
        entered.append(job)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    last = time.monotonic() + PATIENCE
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
    threads[0].join(PATIENCE)
    assert entered == [second]
    queue.leave(second)
    threads[1].join(PATIENCE)
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
    waiting(queue, other, entered).join(PATIENCE)
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


def test_of_one_viewer_so_many_compute_though_there_is_room_and_the_next_knows_for_which_it_waits() -> None:
    queue, entered = JobQueue(4, of_one=1), list[QueuedJob]()
    first, second, third, other = QueuedJob("a", 1), QueuedJob("a", 2), QueuedJob("a", 3), QueuedJob("b", 4)
    queue.enter(first, nothing)
    thread = waiting(queue, second, entered)
    waiting(queue, third, entered)
    waiting(queue, other, entered).join(PATIENCE)
    assert entered == [other]
    assert (queue.own_before(second), queue.own_before(third), queue.own_before(other)) == (first, first, None)
    queue.leave(first)
    thread.join(PATIENCE)
    assert entered == [other, second]
    assert queue.own_before(third) is second
    # Where two of a viewer may compute at once, one waits for others, not for the one that computes.
    of_two = JobQueue(1, of_one=2)
    of_two.enter(first, nothing)
    for job in (second, third):
        waiting(of_two, job, entered)
    assert (of_two.own_before(second), of_two.own_before(third)) == (None, first)


def giving_way(queue: JobQueue, job: QueuedJob, to: QueuedJob, entered: list[QueuedJob]) -> threading.Thread:
    """A thread in which a job gives way, once another has its turn."""
    thread = threading.Thread(target=lambda: queue.give_way(job, nothing), daemon=True)
    thread.start()
    last = time.monotonic() + PATIENCE
    while to not in entered:
        assert time.monotonic() < last, "it never had its turn"
        time.sleep(0.01)
    return thread


def test_after_its_turn_a_job_lets_the_next_viewer_compute_and_goes_on_later() -> None:
    queue, entered = JobQueue(1, turn=0.0), list[QueuedJob]()
    long, short, own = QueuedJob("a", 1), QueuedJob("b", 2), QueuedJob("a", 3)
    queue.enter(long, nothing)
    waiting(queue, own, entered)
    waiting(queue, short, entered)
    resumed = giving_way(queue, long, short, entered)
    # What was begun goes on before what the same viewer began after it.
    assert (queue.before(long), queue.before(own)) == (0, 1)
    queue.leave(short)
    resumed.join(PATIENCE)
    assert not resumed.is_alive()
    assert long.turns == 2
    assert 0 < long.waited < PATIENCE
    assert entered == [short]


def test_a_job_gives_no_way_before_its_turn_is_over_nor_to_its_own_viewer() -> None:
    queue, entered = JobQueue(1, turn=3_600.0), list[QueuedJob]()
    job = QueuedJob("a", 1)
    queue.enter(job, nothing)
    waiting(queue, QueuedJob("b", 2), entered)
    queue.give_way(job, nothing)
    alone = JobQueue(1, turn=0.0)
    alone.enter(job, nothing)
    waiting(alone, QueuedJob("a", 2), entered)
    alone.give_way(job, nothing)
    assert (0 <= job.waited < 1, entered) == (True, [])


def test_a_job_that_comes_to_no_step_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_queue, "STALLED", 0.0)
    queue, entered = JobQueue(1, of_one=1), list[QueuedJob]()
    queue.enter(QueuedJob("a", 1), nothing)
    waiting(queue, QueuedJob("a", 2), entered).join(PATIENCE)
    assert len(entered) == 1


@pytest.mark.usefixtures("shared")
def test_on_a_shared_server_a_viewer_computes_one_and_fills_no_queue() -> None:
    queue, entered = JobQueue(4), list[QueuedJob]()
    queue.enter(QueuedJob("greedy", 0), nothing)
    for number in range(1, 9):
        waiting(queue, QueuedJob("greedy", number), entered)
    with pytest.raises(CancelledError, match="You have 8 computations waiting"):
        queue.enter(QueuedJob("greedy", 9), nothing)
    queue.enter(QueuedJob("modest", 10), nothing)
    assert entered == []
