"""The grid of all heads of an attention: its tiles, what they show, and what a click on one does.

Of a long text the layers are sent as they are computed, with progress and a way to stop.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import attention, long_texts, models, texts
from viz.access.head_jobs import of_model
from viz.pictures.focus import AXES
from viz.pictures.head_grid.component import Followed, Grid, HeadChoice, Ranking, TileJobs, TileMetric, head_grid
from viz.selection import state
from viz.selection.choices import Measure
from viz.server.background_jobs import Job
from viz.text import written
from viz.text.messages import _, shown
from viz.text.written import file_name
from viz.ui import finding, frame, head_jobs, long_work, measures, trace_tiles
from viz.ui.measures import MEASURES

if TYPE_CHECKING:
    from model import Trace


#: Seconds between two looks at what is computed meanwhile.
INTERVAL: Final = 1.0
_KEY: Final = "long-tiles"


def measure_of(trace: "Trace", site: str) -> Measure:
    """What tiles show: the measure of the open head, but of a long text the weights."""
    selection = state.current()
    measure = selection.common.measure
    is_offered = measure in measures.offered(models.abilities(selection.model))
    return measure if is_offered and not long_texts.is_long(trace, site) else "weights"


def send(trace: "Trace", site: str, measure: Measure) -> None:
    """Send the tiles of an attention to the browser, where the grid waits for them."""
    reader = models.reader(state.current().model)
    trace_tiles.send(trace, reader, site, AXES[site], key=f"tiles-{site}", measure=measure)


def draw(
    trace: "Trace", site: str, measure: Measure, metric: TileMetric | None = None, ranking: Ranking | None = None
) -> Mapping[str, str]:
    """The grid of a site's heads, whose tiles are sent elsewhere; the addresses of the tiles of all attentions."""
    selection = state.current()
    addresses = {other: attention.tiles_key(trace, other, measure) for other in trace.sites}
    layers, heads = trace.shapes[site]
    is_mean = not MEASURES[measure].is_per_head

    jobs = {other: _jobs(trace, other) for other in trace.sites} if not is_mean else {}
    grid = Grid(
        address=addresses[site],
        shape=(layers, 1 if is_mean else heads),
        selected=HeadChoice(selection.common.layer, 0 if is_mean else selection.common.head),
        # What is known of a head does not hold of all together.
        metric=None if is_mean else metric,
        ranking=None if is_mean else ranking,
        jobs=jobs.get(site),
        is_mean=is_mean,
        roles=texts.spans_of_tokens(trace),
        followed=Followed("site", tuple(addresses.values()), tuple(map(jobs.get, addresses))),
        name=file_name(site, "all heads", *([] if measure == "weights" else [measure]), sentence=trace.text),
        caption=_(
            "{site}, {measure} of every head", site=written.label(site), measure=shown(MEASURES[measure].label).lower()
        ),
    )
    head_grid(grid, on_open=partial(_open, trace), key="heads")
    return addresses


def _jobs(trace: "Trace", site: str) -> TileJobs | None:
    return head_jobs.on_tiles(of_model(state.current().model, site), trace.shapes[site])


def signs_said(site: str) -> str:
    """Explain the signs under the tiles of a site; "" where there are none."""
    return head_jobs.signs_said(of_model(state.current().model, site))


def _open(trace: "Trace", choice: HeadChoice) -> None:
    """Open a head; the cell that was kept, or proposed, stays kept."""
    token, key_token = finding.kept(trace)
    common = state.current().common
    head = choice.head if MEASURES[common.measure].is_per_head else common.head
    state.change(layer=choice.layer, head=head, token=token, key_token=key_token)


def send_long(trace: "Trace", site: str) -> None:
    """Send the frame of the grid at once, and every layer as soon as there is one."""
    grid = long_texts.grid_of(trace, site)
    task = long_texts.tiles_task(trace, site)
    is_done = len(grid.layers) == grid.spec.layers
    job = long_work.job_of(task, _KEY) if is_done else long_work.begin(task, _KEY)
    interval = None if is_done or job is None or job.finished else INTERVAL
    # Drawn again by itself as long as layers are missing.
    fill = st.fragment(_fill, run_every=interval)
    fill(trace, site, grid, job, interval)


def stop_long() -> None:
    """Leave off what another text or another attention has begun."""
    long_work.stop(_KEY)


def _fill(trace: "Trace", site: str, grid: long_texts.Grid, job: Job[None] | None, interval: float | None) -> None:
    # Always there, so that what stands below it is not built anew, and sent again, once all is computed.
    with st.container():
        if job is not None and len(grid.layers) < grid.spec.layers:
            _show_progress(job)
    # Nothing of these is seen, and no room may lie between them: of 32 layers it would be 500 pixels.
    with st.container(gap=None):
        trace_tiles.send_computed(trace, site, grid, AXES[site], key=f"tiles-{site}")
    if job is not None and job.finished and interval is not None:
        # Once more, and no longer every second.
        st.rerun()


def _show_progress(job: Job[None]) -> None:
    if not job.finished:
        long_work.show_progress(job, _KEY)
        return
    with frame.errors_shown():
        job.result()
    st.button(_("Continue"), key=f"{_KEY}-again", icon=":material/play_arrow:", on_click=stop_long)
