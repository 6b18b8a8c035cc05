"""Every head of one attention at a glance, as a grid of tiles, and one of them opened.

Of a long text the layers are sent as they are computed, with progress and a way to stop.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import attention, models, texts
from viz.access.findings import of_model
from viz.pages.attention import hidden_part
from viz.pages.attention.all_heads import linked_heads
from viz.pages.attention.opened_head import captions, panel, picture_panel
from viz.pictures.head_grid.component import Followed, Grid, HeadChoice, Ranking, TileJobs, TileMetric, head_grid
from viz.selection import state
from viz.selection.choices import DRAWN_AS, KEPT, ORDERS, Measure
from viz.server.background_jobs import Job
from viz.text import written
from viz.text.messages import _, shown
from viz.text.metrics import METRICS
from viz.text.written import DECODER, file_name
from viz.ui import controls, finding, frame, head_metrics, long_work, present, terms, trace_tables, what_it_does, words
from viz.ui.head_metrics import MEASURES
from viz.ui.words import Chosen

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace

#: Seconds between two looks at what is computed meanwhile.
INTERVAL: Final = 1.0
_KEY: Final = "long-tiles"


def measure_of(trace: "Trace", site: str) -> Measure:
    """What tiles show: the measure of the open head, but of a long text the weights."""
    selection = state.current()
    measure = selection.common.measure
    is_offered = measure in head_metrics.offered(models.abilities(selection.model))
    return measure if is_offered and not attention.is_long(trace, site) else "weights"


def send(trace: "Trace", site: str, measure: Measure) -> None:
    """Send the tiles of an attention to the browser, where the grid waits for them."""
    reader, sinks = models.reader(state.current().model), state.current().common.sinks
    axes = attention.focus_axes(trace, site)
    trace_tables.send(trace, reader, site, axes, key=f"tiles-{site}", measure=measure, sinks=sinks)


def draw(
    trace: "Trace", site: str, measure: Measure, metric: TileMetric | None = None, ranking: Ranking | None = None
) -> Mapping[str, str]:
    """The grid of a site's heads, whose tiles are sent elsewhere; the addresses of the tiles of all attentions.

    The heads that link the words in question most are framed.
    """
    selection = state.current()
    # Tiles of a long text are computed layer by layer, with all keys.
    addresses = {
        other: attention.tiles_key(
            trace, other, measure, sinks=selection.common.sinks or attention.is_long(trace, other)
        )
        for other in trace.sites
    }
    layers, heads = trace.shapes[site]
    is_mean = not MEASURES[measure].is_per_head

    jobs = {other: _jobs(trace, other) for other in trace.sites} if not is_mean else {}
    grid = Grid(
        address=addresses[site],
        shape=(layers, 1 if is_mean else heads),
        selected=HeadChoice(selection.common.layer, 0 if is_mean else selection.common.head),
        kept=_kept(trace, site),
        # What is known of a head does not hold of all together.
        metric=None if is_mean else metric,
        framed=() if is_mean else linked_heads.best(trace, site),
        ranking=None if is_mean else ranking,
        jobs=jobs.get(site),
        is_mean=is_mean,
        roles=texts.spans_of_tokens(trace),
        asks=site if attention.can_ask_why(trace, models.reader(selection.model)) else "",
        followed=Followed("site", tuple(addresses.values()), tuple(map(jobs.get, addresses))),
        name=file_name(site, "all heads", *([] if measure == "weights" else [measure]), sentence=trace.text),
        caption=_(
            "{site}, {measure} of every head", site=written.label(site), measure=shown(MEASURES[measure].label).lower()
        ),
    )
    head_grid(grid, on_open=partial(_open, trace), key="heads")
    return addresses


def _kept(trace: "Trace", site: str) -> tuple[int, ...]:
    """The queries of the row that is kept, of a picture; none of what is no picture."""
    row = finding.kept(trace)[0]
    if trace.source.grid is None or site == DECODER or row is None:
        return ()
    queries, _keys = attention.shown_axes(trace, site, picture_panel.view_of(site))
    at = queries.index_of(row)
    return () if at is None else queries.groups[at]


def _jobs(trace: "Trace", site: str) -> TileJobs | None:
    return head_metrics.on_tiles(of_model(state.current().model, site), trace.shapes[site])


def signs_said(site: str) -> str:
    """Explain the signs under the tiles of a site; "" where there are none."""
    return head_metrics.signs_said(of_model(state.current().model, site))


def _open(trace: "Trace", choice: HeadChoice) -> None:
    """Open a head; the cell that was kept, or proposed, stays kept."""
    token, key_token = finding.kept(trace)
    common = state.current().common
    head = choice.head if MEASURES[common.measure].is_per_head else common.head
    state.change(layer=choice.layer, head=head, token=token, key_token=key_token)


def send_long(trace: "Trace", site: str) -> None:
    """Send the frame of the grid at once, and every layer as soon as there is one."""
    grid = attention.grid_of(trace, site)
    task = attention.tiles_task(trace, site)
    is_done = len(grid.layers) == grid.spec.layers
    job = long_work.job_of(task, _KEY) if is_done else long_work.begin(task, _KEY)
    interval = None if is_done or job is None or job.finished else INTERVAL
    # Drawn again by itself as long as layers are missing.
    fill = st.fragment(_fill, run_every=interval)
    fill(trace, site, grid, job, interval)


def stop_long() -> None:
    """Leave off what another text or another attention has begun."""
    long_work.stop(_KEY)


def _fill(trace: "Trace", site: str, grid: attention.Grid, job: Job[None] | None, interval: float | None) -> None:
    # Always there, so that what stands below it is not built anew, and sent again, once all is computed.
    with st.container():
        if job is not None and len(grid.layers) < grid.spec.layers:
            _show_progress(job)
    # Nothing of these is seen, and no room may lie between them: of 32 layers it would be 500 pixels.
    with st.container(gap=None):
        trace_tables.send_computed(trace, site, grid, attention.focus_axes(trace, site), key=f"tiles-{site}")
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


def show_words(trace: "Trace", head: "DeltaGenerator") -> None:
    """What the model read and what it wrote, in the head of the page, where its words can be clicked."""
    is_proposed = not any(words.chosen_in(trace))
    words.show(trace, head, linked_heads.marked(trace), partial(_choose, trace), is_proposed=is_proposed)


def _choose(trace: "Trace", chosen: Chosen) -> None:
    before = _controls()
    linked_heads.choose(trace, chosen)
    # Mostly only the pictures answer: the rest of the page would take three times as long.
    frame.rerun(show if present.is_on() or _controls() != before else _show_pictures)


def _controls() -> tuple[str, bool]:
    """What the controls show of what a click on a word may change."""
    selection = state.current()
    return selection.common.site, selection.attention.metric == KEPT


@frame.fragment
def show(trace: "Trace") -> None:
    """Which attention and which metric, and below it the grid of heads beside the head that is open."""
    if present.is_on():
        _show_presented(trace)
        return
    metric = ranking = None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site = controls.site(trace.sites)
        # Another attention may lack the layer or head that is open.
        state.fit(trace.shapes)
        linked_heads.begin(trace, site)
        name = controls.metric(head_metrics.labels() | {KEPT: linked_heads.LABEL})
        values = _metrics(trace, site) if name not in ("", KEPT) else None
        if values is not None:
            metric = head_metrics.tile_metric(name, site, values[name])
        # What there is nothing to choose of is not offered.
        order = controls.order() if metric is not None or name == KEPT else ORDERS[0]
        keep = controls.max_heads(trace.layers_of(site) * trace.heads_of(site)) if order != ORDERS[0] else 0
    if metric is not None:
        ranking = head_metrics.ranking(metric, order, keep)
    elif values is not None and not state.current().common.sinks:
        frame.note("“{name}” is undefined without sinks.", name=METRICS[name].name)
    elif values is not None:
        frame.note(METRICS[name].why_none(site))
    measure = measure_of(trace, site)
    progress, pictures, keepers = st.container(), st.container(), st.container(gap=None)
    with keepers:
        # A place each, whichever comes first: what stands where it stood is not sent again.
        slots = {other: st.container() for other in trace.sites}
    is_long = attention.is_long(trace, site)
    if not is_long:
        stop_long()
        with slots[site]:
            send(trace, site, measure)
    with pictures:
        _show_pictures(trace, site, measure, metric, ranking, (order, keep) if name == KEPT else None)
    if is_long:
        # After the open head, which a person need not wait for; and of this attention alone.
        with progress:
            send_long(trace, site)
        return
    for other in trace.sites:
        if other != site and not attention.is_long(trace, other):
            with slots[other]:
                send(trace, other, measure)


def _metrics(trace: "Trace", site: str) -> Mapping[str, Float[np.ndarray, "layer head"]] | None:
    """The metrics of all heads; of a long text they take a while, and meanwhile there is their progress."""
    sinks = state.current().common.sinks
    if not attention.is_long(trace, site):
        return attention.head_metrics(trace, site, sinks=sinks)
    task = attention.metrics_task(trace, site, sinks=sinks)
    return long_work.outcome(task, _("Compute metrics"), key="metrics", start=True)


@frame.fragment
def _show_pictures(
    trace: "Trace",
    site: str,
    measure: Measure,
    metric: TileMetric | None,
    ranking: Ranking | None,
    by_kept: tuple[str, int] | None,
) -> None:
    """The two pictures, and under the tiles the heads that link what is kept.

    A fragment of its own: to open another head, only these few elements are sent again.

    Args:
        trace, site, measure: what is shown.
        metric, ranking: of the tiles.
        by_kept: instead of these, the order and number of heads by the weight of the cell that is kept.
    """
    if measure != measure_of(trace, site):
        # The controls, and what sends the tiles, stand outside of this part of the page.
        st.rerun()
    if by_kept is not None:
        metric = linked_heads.tile_metric(trace, site)
        ranking = None if metric is None else head_metrics.ranking(metric, *by_kept)
    with st.grid(2, min_column_width=310, gap="medium"):
        with st.container():
            addresses = draw(trace, site, measure, metric, ranking)
            with st.container(key="linked-heads"):
                linked_heads.show(trace, site, partial(frame.rerun, show))
            hidden_part.show(trace, site)
            if not MEASURES[measure].is_per_head:
                frame.caption(
                    "A rollout combines all heads of a layer, so there is one tile per layer; each covers all layers "
                    "up to its own."
                )
            elif signs := signs_said(site):
                terms.caption(signs)
            if not state.current().common.sinks:
                terms.caption(captions.of_tiles_without_sinks(trace, site))
            if state.current().common.whole_words:
                # Else it is explained beside the open head; of the tiles, those who point at one see tokens.
                captions.show_sign(trace)
        with st.container():
            panel.show(trace, site, addresses, linked_heads.row_said(trace, site))
    if MEASURES[measure].is_per_head:
        what_it_does.details(trace, site, state.current().common.layer, state.current().common.head)


def _show_presented(trace: "Trace") -> None:
    """The screen on which the presentation is."""
    site = state.current().common.site
    controls.fit_measure(head_metrics.offered(models.abilities(state.current().model)))
    # The grid, and each way to draw the open head; bertviz, which is slow, where it is chosen.
    is_slow = state.current().attention.drawn_as == "bertviz"
    ways = [way for way in DRAWN_AS if way != "bertviz" or is_slow]
    screen = present.steps(1 + len(ways), "screen")
    with st.container(key="below-a-sentence"):
        captions.show_headline(trace, linked_heads.row_said(trace, site))
        if screen:
            panel.picture(trace, site, ways[screen - 1])
            return
        measure = measure_of(trace, site)
        with st.container(key="beside-each-other"):
            heads, head = st.columns((11, 13), gap="xsmall")
        with heads:
            draw(trace, site, measure)
        with head:
            panel.picture(trace, site, ways[0])
    with st.container(gap=None):
        if attention.is_long(trace, site):
            send_long(trace, site)
        else:
            stop_long()
            send(trace, site, measure)
