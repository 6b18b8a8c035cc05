"""Every head of one attention at a glance, and one of them opened."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import attention, long_texts, models
from viz.access.head_jobs import of_model
from viz.components.head_grid.component import Followed, HeadChoice, Ranking, TileMetric, head_grid
from viz.components.tiles.store import send_tiles
from viz.core import sites
from viz.core.file_names import file_name
from viz.pages.attention.all_heads import linked_heads, long_tiles
from viz.pages.attention.opened_head import panel
from viz.selection import state
from viz.selection.attention import KEPT, ORDERS
from viz.ui import controls, finding, frame, head_jobs, head_metrics, long_work

if TYPE_CHECKING:
    from model import Trace


@frame.fragment
def show(trace: "Trace") -> None:
    """Which attention and which metric, and below it the grid of heads beside the head that is open."""
    metric = ranking = None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site = controls.site(trace.sites)
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
    progress, pictures, keepers = st.container(), st.container(), st.container(gap=None)
    with keepers:
        # A place each, whichever comes first: what stands where it stood is not sent again.
        slots = {other: st.container() for other in trace.sites}
    is_long = long_texts.is_long(trace, site)
    if not is_long:
        long_tiles.stop()
        with slots[site]:
            _send_tiles(trace, site)
    with pictures:
        _show_pictures(trace, site, metric, ranking, (order, keep) if name == KEPT else None)
    if is_long:
        # After the open head, which a person need not wait for; and of this attention alone.
        with progress:
            long_tiles.send(trace, site)
        return
    for other in trace.sites:
        if other != site and not long_texts.is_long(trace, other):
            with slots[other]:
                _send_tiles(trace, other)


def _metrics(trace: "Trace", site: str) -> Mapping[str, Float[np.ndarray, "layer head"]] | None:
    """The metrics of all heads; of a long text they take a while, and meanwhile there is their progress."""
    if not long_texts.is_long(trace, site):
        return attention.head_metrics(trace, site)
    task = long_texts.metrics_task(trace, site)
    return long_work.outcome(task, "Compute the figures", key="metrics", start=True)


def _send_tiles(trace: "Trace", site: str) -> None:
    send_tiles(
        attention.head_tiles(trace, site),
        trace.row_names(site),
        trace.axis_tokens(site)[1],
        address=attention.tiles_key(trace, site),
        key=f"tiles-{site}",
    )


@frame.fragment
def _show_pictures(
    trace: "Trace", site: str, metric: TileMetric | None, ranking: Ranking | None, by_kept: tuple[str, int] | None
) -> None:
    """The two pictures, and under the tiles the heads that link what is kept, and how the open head is drawn.

    A fragment of its own: to open another head, only these few elements are sent again.

    Args:
        trace, site: what is shown.
        metric, ranking: of the tiles.
        by_kept: instead of these, the order and number of heads by the weight of the cell that is kept.
    """
    selection = state.current()
    if by_kept is not None:
        metric = linked_heads.tile_metric(trace, site)
        ranking = None if metric is None else head_metrics.ranking(metric, *by_kept)
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            addresses = {other: attention.tiles_key(trace, other) for other in trace.sites}
            head_grid(
                addresses[site],
                trace.shapes[site],
                selected=HeadChoice(selection.common.layer, selection.common.head),
                metric=metric,
                ranking=ranking,
                jobs=head_jobs.on_tiles(of_model(models.reader(selection.model), site), trace.shapes[site]),
                followed=Followed("site", tuple(addresses.values())),
                on_open=lambda choice: _open(trace, choice),
                key="heads",
                name=file_name(site, "all heads", sentence=trace.text),
                caption=f"{sites.label(site)}, weights of every head",
            )
            linked_heads.show(trace, site)
            panel.settings(trace, site)
        with st.container():
            panel.show(trace, site, addresses)


def _open(trace: "Trace", choice: HeadChoice) -> None:
    """Open a head; the cell that was kept, or proposed, stays kept."""
    token, key_token = finding.kept(trace)
    state.change(layer=choice.layer, head=choice.head, token=token, key_token=key_token)
