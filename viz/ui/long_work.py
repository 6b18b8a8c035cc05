"""Long computations on a page: a button that starts one, its progress, a button that stops it, and its result.

The result stays in the session, and for all viewers among those computed last. Knows nothing of what is computed.
"""

from typing import Final, TypeVar

import streamlit as st

from model.errors import CancelledError, HeadlightError
from viz.access.loader import RecentlyUsed
from viz.core.background_jobs import Job, Task
from viz.ui.controls import plain

Result = TypeVar("Result")
MAX_RESULTS: Final = 32
#: A page waits so many seconds before it shows progress, and looks again so often.
PATIENCE, INTERVAL = 0.3, 0.5


def known(task: Task[Result]) -> Result | None:
    """The result of a task, if this session or another viewer has it."""
    found: Result | None = _results().get(task.place)  # type: ignore[assignment]
    if found is not None:
        return found
    for value in st.session_state.values():
        if isinstance(value, Job) and value.task.place == task.place and value.finished:
            try:
                result: Result = value.result()
            except HeadlightError:
                return None
            return result
    return None


def outcome(task: Task[Result], label: str, *, key: str, start: bool = False) -> Result | None:
    """The result of a task; until it is there, the button that starts it or its progress, and None.

    Args:
        task: what is to be computed.
        label: on the button.
        key: of the widgets; another task of the same key stops the one before.
        start: begin without a click, unless it was stopped.
    """
    place = f"long-run/{key}"
    job: Job[Result] | None = st.session_state.get(place)
    if job is not None and job.task.place != task.place:
        job.stop()
        del st.session_state[place]
        job = None
    if job is None:
        found = known(task)
        if found is not None:
            return found
        if not start:
            st.button(label, key=f"{key}-start", icon=":material/play_arrow:", on_click=_start, args=(place, task))
            return None
        _start(place, task)
        job = st.session_state[place]
    if not job.wait(PATIENCE):
        _watch(job, key)
        return None
    return _finished(job, label, key, place)


def _finished(job: Job[Result], label: str, key: str, place: str) -> Result | None:
    try:
        return _results().put(job.task.place, job.result())  # type: ignore[return-value]
    except CancelledError as stopped:
        st.info(plain(str(stopped)), icon=":material/stop_circle:")
    except HeadlightError as error:
        st.error(plain(str(error)), icon=":material/error:")
    st.button(label, key=f"{key}-start", icon=":material/play_arrow:", on_click=_start, args=(place, job.task))
    return None


def _start(place: str, task: Task[Result]) -> None:
    st.session_state[place] = Job(task)


@st.fragment(run_every=INTERVAL)
def _watch(job: Job[Result], key: str) -> None:
    """Progress, looked at again and again; drawn anew alone, so that whatever else is on the page stays as it is."""
    if job.finished:
        st.rerun()
    task = job.task
    doing = "Stopping" if job.stopping else "Computing"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(job.done / max(1, task.total), text=f"{doing}: {job.done:,} of {task.total:,} {task.unit}")
        st.button("Stop", key=f"{key}-stop", icon=":material/stop:", disabled=job.stopping, on_click=job.stop)


@st.cache_resource(show_spinner=False)
def _results() -> RecentlyUsed[object, object]:
    return RecentlyUsed(MAX_RESULTS)
