"""Long computations on a page: the button that starts one, its progress, the button that stops it, and its result.

A job under way belongs to the session, goes on whatever else a person clicks, and ends when the browser leaves. Its
result stays in the session, and for all viewers among those computed last.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Final, Literal, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.errors import CancelledError, HeadlightError
from viz.server import limits
from viz.server.background_jobs import Job, Progress, Task
from viz.server.caches import BoundedCache
from viz.text.messages import _, shown
from viz.ui.controls import plain, with_code

Result = TypeVar("Result")
MAX_RESULTS: Final = 64
#: A page that can go on without a result waits so many seconds before it shows progress, and looks again so often.
PATIENCE, INTERVAL = 0.3, 0.5
#: One that cannot waits so many seconds before it shows progress, since most are done before, and looks so often.
LONGER_PATIENCE, SHORTER_INTERVAL = 0.7, 0.1


def known(task: Task[Result]) -> Result | None:
    """The result of a task, if this session or another viewer has it."""
    result: Result | None = results().get(task.key)  # type: ignore[assignment]
    if result is not None:
        return result
    for value in st.session_state.values():
        if isinstance(value, Job) and value.key == task.key and value.finished:
            try:
                of_session: Result = value.result()
            except HeadlightError:
                return None
            return of_session
    return None


def outcome(
    task: Task[Result],
    label: str,
    *,
    key: str,
    start: bool = False,
    button: Literal["primary", "secondary"] = "secondary",
    patience: float = PATIENCE,
) -> Result | None:
    """The result of a task; until it is there, the button that starts it or its progress, and None.

    Another task of the same key stops the one before. `start` begins without a click, unless it was stopped; progress
    is shown after `patience` seconds.
    """
    job = job_of(task, key)
    if job is None:
        if (result := known(task)) is not None:
            return result
        if not start:
            _start_button(task, label, key, button)
            return None
        job = begin(task, key, label)
    if not job.wait(patience):
        _watch(job, key)
        return None
    try:
        return results().put(task.key, job.result())  # type: ignore[return-value]
    except CancelledError as stopped:
        st.info(plain(stopped.message), icon=":material/stop_circle:")
    except HeadlightError as error:
        st.error(with_code(error.message), icon=":material/error:")
    _start_button(task, label, key, button)
    return None


def in_this_thread(task: Task[Result]) -> Result:
    """The result of a task outside of a page run, as where a file is made. Raises whatever the computation raises."""
    result: Result | None = results().get(task.key)  # type: ignore[assignment]
    if result is not None:
        return result
    with limits.limited():
        return task.compute(Progress(task.total, task.unit))


def awaited(task: Task[Result], *, key: str, meanwhile: AbstractContextManager[None] | None = None) -> Result:
    """Wait, with its progress, for a result without which there is no page. Raises what the computation raises.

    `meanwhile` is shown until there is progress to be shown, as while a model is opened.
    """
    with ExitStack() as until_progress:
        until_progress.enter_context(meanwhile or nullcontext())
        return _awaited(task, key, until_progress.close)


def _awaited(task: Task[Result], key: str, on_progress: Callable[[], None]) -> Result:
    job = begin(task, key)
    slot, bar, patience = st.empty(), None, LONGER_PATIENCE
    asks, count = False, 0
    while not job.wait(patience):
        # A run that waits begins at any use of the session, and this may draw nothing for long.
        st.session_state.get(_job_key(key))
        # A class that waits is told seldom enough to cost those who compute nothing.
        is_waiting = job.before is not None
        patience = INTERVAL if is_waiting else SHORTER_INTERVAL
        if is_waiting:
            limits.release()
        if bar is not None and asks == (job.own_before is not None):
            bar.progress(job.progress.share, text=job.text)
        elif bar is not None or job.progress.done or job.before is not None:
            on_progress()
            with slot.container():
                # One page may wait for several: each has a button of its own.
                asks = job.own_before is not None
                bar = show_progress(job, f"{key}-{id(job)}-{count}")
            count += 1
    limits.acquire()
    slot.empty()
    del st.session_state[_job_key(key)]
    return job.result()


def begin(task: Task[Result], key: str, name: str = "") -> Job[Result]:
    """The session's job of this task, begun if there is none; a job of the same key and another task stops.

    `name` is what a person calls it: the label of the button that starts it.
    """
    job = job_of(task, key)
    if job is None:
        job = Job(task, f"“{name}”") if name else Job(task)
        st.session_state[_job_key(key)] = job
    return job


def job_of(task: Task[Result], key: str) -> Job[Result] | None:
    """The session's job of this task, if it was begun; a job of the same key and another task stops."""
    job: Job[Result] | None = st.session_state.get(_job_key(key))
    if job is not None and job.key != task.key:
        stop(key)
        return None
    return job


def is_under_way(task: Task[Result], key: str) -> bool:
    """Whether the session's job of this task was begun and has not ended."""
    job = job_of(task, key)
    return job is not None and not job.finished


def is_open(task: Task[Result], key: str) -> bool:
    """Whether nobody has computed the task, and the session has not begun it."""
    return job_of(task, key) is None and known(task) is None


def stop(key: str) -> None:
    """Stop the job of this key, if there is one, and forget it."""
    job: Job[object] | None = st.session_state.pop(_job_key(key), None)
    if job is not None:
        job.stop()


def show_progress(job: Job[Result], key: str) -> DeltaGenerator:
    """How far a job is, with the buttons that stop it or the one that it waits for; the bar is returned."""
    with st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(job.progress.share, text=job.text)
        if (own := job.own_before) is not None:
            st.button(_("Stop the other job"), key=f"{key}-stop-other", icon=":material/stop:", on_click=own.stop)
        st.button(_("Stop"), key=f"{key}-stop", icon=":material/stop:", disabled=job.stopping, on_click=job.stop)
    return bar


def _job_key(key: str) -> str:
    return f"long-work/{key}"


def _start_button(task: Task[Result], label: str, key: str, kind: Literal["primary", "secondary"]) -> None:
    icon = ":material/play_arrow:"
    st.button(shown(label), key=f"{key}-start", type=kind, icon=icon, on_click=_start, args=(task, key, label))


def _start(task: Task[Result], key: str, label: str) -> None:
    stop(key)
    begin(task, key, label)


@st.fragment(run_every=INTERVAL)
def _watch(job: Job[Result], key: str) -> None:
    """Progress, looked at again and again by reruns of its own; whatever else is on the page stays as it is."""
    if job.finished:
        st.rerun()
    show_progress(job, key)


@st.cache_resource(show_spinner=False)
def results() -> BoundedCache[object, object]:
    """What long computations returned, by the keys of their tasks, for all viewers."""
    return BoundedCache(MAX_RESULTS)
