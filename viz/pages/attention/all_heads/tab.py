"""Every head of one attention at a glance, and one of them opened."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import attention, long_texts, models
from viz.access.head_jobs import of_model
from viz.components.head_grid.component import Followed, HeadChoice, Ranking, TileJobs, TileMetric, head_grid
from viz.components.tiles.store import send_tiles
from viz.core import sites
from viz.core.file_names import file_name
from viz.pages.attention.all_heads import linked_heads, long_tiles
from viz.pages.attention.opened_head import panel
from viz.selection import state
from viz.selection.attention import KEPT, ORDERS
from viz.selection.common import Measure
from viz.ui import controls, finding, frame, head_jobs, head_metrics, long_work, measures
from viz.ui.measures import MEASURES

if TYPE_CHECKING:
    from model import Trace


@frame.fragment
def show(trace: "Trace") -> None:
    """Which attention and which metric, and below it the grid of heads beside the head that is open."""
    metric = ranking = None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site = controls.site(trace.sites)
        linked_heads.begin(trace, site)
        name = controls.metric(head_metrics.labels() | {KEPT: linked_heads.LABEL})
        values = _metrics(trace, site) if name not in ("", KEPT) else None
        if values is not None:
            metric = head_metrics.tile_metric(name, site, values[name])
        order = controls.order(disabled=metric is None and name != KEPT)
        ranked = (metric is not None or name == KEPT) and order != ORDERS[0]
        keep = controls.max_heads(trace.layers_of(site) * trace.heads_of(site), disabled=not ranked)
    if metric is not None:
        ranking = head_metrics.ranking(metric, order, keep)
    elif values is not None:
        frame.note(head_metrics.why_none(name, site))
    measure = _measure(trace, site)
    progress, pictures, keepers = st.container(), st.container(), st.container(gap=None)
    with keepers:
        # A place each, whichever comes first: what stands where it stood is not sent again.
        slots = {other: st.container() for other in trace.sites}
    is_long = long_texts.is_long(trace, site)
    if not is_long:
        long_tiles.stop()
        with slots[site]:
            _send_tiles(trace, site, measure)
    with pictures:
        _show_pictures(trace, site, measure, metric, ranking, (order, keep) if name == KEPT else None)
    if is_long:
        # After the open head, which a person need not wait for; and of this attention alone.
        with progress:
            long_tiles.send(trace, site)
        return
    for other in trace.sites:
        if other != site and not long_texts.is_long(trace, other):
            with slots[other]:
                _send_tiles(trace, other, measure)


def _measure(trace: "Trace", site: str) -> Measure:
    """What tiles show: the measure of the open head, but of a long text the weights."""
    selection = state.current()
    measure = selection.common.measure
    is_offered = measure in measures.offered(models.abilities(selection.model))
    return measure if is_offered and not long_texts.is_long(trace, site) else "weights"


def _metrics(trace: "Trace", site: str) -> Mapping[str, Float[np.ndarray, "layer head"]] | None:
    """The metrics of all heads; of a long text they take a while, and meanwhile there is their progress."""
    if not long_texts.is_long(trace, site):
        return attention.head_metrics(trace, site)
    task = long_texts.metrics_task(trace, site)
    return long_work.outcome(task, "Compute the figures", key="metrics", start=True)


def _send_tiles(trace: "Trace", site: str, measure: Measure) -> None:
    measured = attention.head_tiles(trace, models.reader(state.current().model), site, measure)
    send_tiles(
        measured.tiles,
        trace.row_names(site),
        trace.axis_tokens(site)[1],
        address=attention.tiles_key(trace, site, measure),
        key=f"tiles-{site}",
        number=MEASURES[measure].number,
        top=measured.top,
    )


@frame.fragment
def _show_pictures(
    trace: "Trace",
    site: str,
    measure: Measure,
    metric: TileMetric | None,
    ranking: Ranking | None,
    by_kept: tuple[str, int] | None,
) -> None:
    """The two pictures, and under the tiles the heads that link what is kept, and how the open head is drawn.

    A fragment of its own: to open another head, only these few elements are sent again.

    Args:
        trace, site, measure: what is shown.
        metric, ranking: of the tiles.
        by_kept: instead of these, the order and number of heads by the weight of the cell that is kept.
    """
    if measure != _measure(trace, site):
        # The controls, and what sends the tiles, stand outside of this part of the page.
        st.rerun()
    selection = state.current()
    if by_kept is not None:
        metric = linked_heads.tile_metric(trace, site)
        ranking = None if metric is None else head_metrics.ranking(metric, *by_kept)
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            addresses = {other: attention.tiles_key(trace, other, measure) for other in trace.sites}
            layers, heads = trace.shapes[site]
            is_mean = not MEASURES[measure].is_per_head
            jobs = {other: _jobs(trace, other) for other in trace.sites} if not is_mean else {}
            head_grid(
                addresses[site],
                (layers, 1 if is_mean else heads),
                selected=HeadChoice(selection.common.layer, 0 if is_mean else selection.common.head),
                # What is known of a head does not hold of all together.
                metric=None if is_mean else metric,
                ranking=None if is_mean else ranking,
                jobs=jobs.get(site),
                is_mean=is_mean,
                followed=Followed("site", tuple(addresses.values()), tuple(map(jobs.get, addresses))),
                on_open=lambda choice: _open(trace, choice),
                key="heads",
                name=file_name(site, "all heads", *([] if measure == "weights" else [measure]), sentence=trace.text),
                caption=f"{sites.label(site)}, {MEASURES[measure].label.lower()} of every head",
            )
            if is_mean:
                st.caption("A rollout takes the heads of a layer together: one tile a layer, up to that layer.")
            linked_heads.show(trace, site)
            panel.settings(trace, site)
        with st.container():
            panel.show(trace, site, addresses)


def _jobs(trace: "Trace", site: str) -> TileJobs | None:
    return head_jobs.on_tiles(of_model(models.reader(state.current().model), site), trace.shapes[site])


def _open(trace: "Trace", choice: HeadChoice) -> None:
    """Open a head; the cell that was kept, or proposed, stays kept."""
    token, key_token = finding.kept(trace)
    common = state.current().common
    head = choice.head if MEASURES[common.measure].is_per_head else common.head
    state.change(layer=choice.layer, head=head, token=token, key_token=key_token)
