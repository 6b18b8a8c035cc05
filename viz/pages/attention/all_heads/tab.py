"""Every head of one attention at a glance, and one of them opened."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import attention, long_texts
from viz.components.head_grid.component import Followed, HeadChoice, Ranking, TileMetric, head_grid
from viz.components.tiles.store import send_tiles
from viz.core.file_names import file_name
from viz.pages.attention.all_heads import long_tiles
from viz.pages.attention.opened_head import panel
from viz.selection import state
from viz.selection.attention import ORDERS
from viz.ui import controls, frame, head_metrics, long_work

if TYPE_CHECKING:
    from model import Trace


@frame.fragment
def show(trace: "Trace") -> None:
    """What to show and how, and below it the grid of heads beside the head that is open."""
    st.caption(
        "One tile is one head: a row for each token that looks, a column for each token looked at; the lighter, the "
        "more weight. Layers run from top to bottom. Click a tile, or use the arrow keys and Enter, to open the head."
    )
    site = controls.site(trace.sites)
    metric = ranking = None
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = controls.metric(head_metrics.labels())
            values = _metrics(trace, site) if name else None
            if values is not None:
                metric = head_metrics.tile_metric(name, site, values[name])
            order = controls.order(disabled=metric is None)
            ranked = metric is not None and order != ORDERS[0]
            keep = controls.max_heads(trace.layers_of(site) * trace.heads_of(site), disabled=not ranked)
        with st.container():
            panel.settings(trace)
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
        _show_pictures(trace, site, metric, ranking)
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
        *trace.axis_tokens(site),
        address=attention.tiles_key(trace, site),
        key=f"tiles-{site}",
    )


@frame.fragment
def _show_pictures(trace: "Trace", site: str, metric: TileMetric | None, ranking: Ranking | None) -> None:
    """The two pictures. A fragment of its own: to open another head, only these few elements are sent again."""
    selection = state.current()
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            addresses = {other: attention.tiles_key(trace, other) for other in trace.sites}
            head_grid(
                addresses[site],
                trace.shapes[site],
                selected=HeadChoice(selection.common.layer, selection.common.head),
                metric=metric,
                ranking=ranking,
                followed=Followed("site", tuple(addresses.values())),
                on_open=lambda choice: state.change(layer=choice.layer, head=choice.head),
                key="heads",
                name=file_name(site, "all heads", sentence=trace.text),
            )
        with st.container():
            panel.show(trace, site, addresses)
