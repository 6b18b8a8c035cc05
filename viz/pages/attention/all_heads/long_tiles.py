"""The grid of a long text: its layers are sent as they are computed, with progress and a way to stop.

Knows nothing of how tiles are computed or drawn.
"""

from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import derived, long_texts
from viz.components.tiles.store import send_frame, send_layer
from viz.core.background_jobs import Job
from viz.selection import state
from viz.ui import frame

if TYPE_CHECKING:
    from model import Trace

#: Seconds between two looks at what is computed meanwhile.
INTERVAL: Final = 1.0
_JOB: Final = "long-tiles"


def send(trace: "Trace", site: str) -> None:
    """Send the frame of the grid at once, and every layer as soon as there is one."""
    selection = state.current()
    shelf = long_texts.grid_shelf(trace, site, selection)
    job = _job(trace, site)
    is_done = len(shelf.layers) == shelf.spec.layers
    # Drawn again by itself as long as layers are missing.
    fill = st.fragment(_fill, run_every=None if is_done or job is None or job.finished else INTERVAL)
    fill(trace, site, shelf, derived.tiles_address(trace.text, site, selection), job)


def stop() -> None:
    """Leave off what another text or another attention has begun."""
    job: Job[None] | None = st.session_state.pop(_JOB, None)
    if job is not None:
        job.stop()


def _job(trace: "Trace", site: str) -> Job[None] | None:
    """What computes the missing layers; None where there is nothing to compute."""
    task = long_texts.tiles_task(trace, site, state.current())
    job: Job[None] | None = st.session_state.get(_JOB)
    if job is not None and job.task.place == task.place:
        return job
    stop()
    shelf = long_texts.grid_shelf(trace, site, state.current())
    if len(shelf.layers) == shelf.spec.layers:
        return None
    job = Job(task)
    st.session_state[_JOB] = job
    return job


def _fill(trace: "Trace", site: str, shelf: long_texts.GridShelf, address: str, job: Job[None] | None) -> None:
    ready = dict(shelf.layers)
    if job is not None and len(ready) < shelf.spec.layers:
        _show_progress(job, len(ready))
    send_frame(shelf.spec, *trace.axis_tokens(site), address=address, key=f"tiles-{site}")
    for layer in sorted(ready):
        send_layer(ready[layer], address=address, key=f"tiles-{site}-{layer}")
    if job is not None and job.finished and st.session_state.get(f"{_JOB}/seen") is not job:
        # Once more, and no longer every second.
        st.session_state[f"{_JOB}/seen"] = job
        st.rerun()


def _show_progress(job: Job[None], ready: int) -> None:
    if job.finished:
        with frame.errors_shown():
            job.result()
        st.button("Go on", key=f"{_JOB}-again", icon=":material/play_arrow:", on_click=stop)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(ready / job.task.total, text=f"Computing all heads: layer {ready + 1} of {job.task.total}")
        st.button("Stop", key=f"{_JOB}-stop", icon=":material/stop:", disabled=job.stopping, on_click=job.stop)
