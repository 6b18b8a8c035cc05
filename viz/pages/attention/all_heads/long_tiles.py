"""The grid of a long text: its layers are sent as they are computed, with progress and a way to stop."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import attention, long_texts
from viz.pictures.tiles.store import Frame, send_frame, send_layer
from viz.server.background_jobs import Job
from viz.text.messages import _
from viz.ui import frame, long_work

if TYPE_CHECKING:
    from model import Trace
    from viz.pictures.tiles.codes import LayerTiles

#: Seconds between two looks at what is computed meanwhile.
INTERVAL: Final = 1.0
_KEY: Final = "long-tiles"


def send(trace: "Trace", site: str) -> None:
    """Send the frame of the grid at once, and every layer as soon as there is one."""
    grid = long_texts.grid_of(trace, site)
    task = long_texts.tiles_task(trace, site)
    is_done = len(grid.layers) == grid.spec.layers
    job = long_work.job_of(task, _KEY) if is_done else long_work.begin(task, _KEY)
    interval = None if is_done or job is None or job.finished else INTERVAL
    # Drawn again by itself as long as layers are missing.
    fill = st.fragment(_fill, run_every=interval)
    fill(trace, site, grid, attention.tiles_key(trace, site), job, interval)


def stop() -> None:
    """Leave off what another text or another attention has begun."""
    long_work.stop(_KEY)


def _fill(
    trace: "Trace", site: str, grid: long_texts.Grid, address: str, job: Job[None] | None, interval: float | None
) -> None:
    ready = dict(grid.layers)
    # Always there, so that what stands below it is not built anew, and sent again, once all is computed.
    with st.container():
        if job is not None and len(ready) < grid.spec.layers:
            _show_progress(job)
    # Nothing of these is seen, and no room may lie between them: of 32 layers it would be 500 pixels.
    with st.container(gap=None):
        _send(trace, site, grid, address, ready)
    if job is not None and job.finished and interval is not None:
        # Once more, and no longer every second.
        st.rerun()


def _send(trace: "Trace", site: str, grid: long_texts.Grid, address: str, ready: Mapping[int, "LayerTiles"]) -> None:
    empty = Frame(
        spec=grid.spec,
        query_tokens=trace.row_names(site),
        key_tokens=trace.axis_tokens(site)[1],
        address=address,
        site=site,
    )
    send_frame(empty, key=f"tiles-{site}")
    for layer in sorted(ready):
        send_layer(ready[layer], address=address, key=f"tiles-{site}-{layer}")


def _show_progress(job: Job[None]) -> None:
    if not job.finished:
        long_work.show_progress(job, _KEY)
        return
    with frame.errors_shown():
        job.result()
    st.button(_("Go on"), key=f"{_KEY}-again", icon=":material/play_arrow:", on_click=stop)
