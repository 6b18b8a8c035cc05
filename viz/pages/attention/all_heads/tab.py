"""Every head of one attention at a glance, and one of them opened."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import attention, long_texts, models
from viz.pages.attention.all_heads import grid, linked_heads
from viz.pages.attention.opened_head import captions, panel
from viz.pictures.head_grid.component import Ranking, TileMetric
from viz.selection import state
from viz.selection.choices import DRAWN_AS, KEPT, ORDERS, Measure
from viz.text.messages import _
from viz.ui import controls, frame, head_metrics, long_work, measures, present, words
from viz.ui.measures import MEASURES
from viz.ui.words import Chosen

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace


#: The grid, and each way to draw the open head.
_SCREENS: Final = 1 + len(DRAWN_AS)


def show_words(trace: "Trace", head: "DeltaGenerator") -> None:
    """What the model read and what it wrote, in the head of the page, where its words can be clicked."""
    words.show(trace, head, linked_heads.marked(trace), partial(_choose, trace))


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
        state.put(state.current().for_model(trace.shapes))
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
    elif values is not None:
        frame.note(head_metrics.why_none(name, site))
    measure = grid.measure_of(trace, site)
    progress, pictures, keepers = st.container(), st.container(), st.container(gap=None)
    with keepers:
        # A place each, whichever comes first: what stands where it stood is not sent again.
        slots = {other: st.container() for other in trace.sites}
    is_long = long_texts.is_long(trace, site)
    if not is_long:
        grid.stop_long()
        with slots[site]:
            grid.send(trace, site, measure)
    with pictures:
        _show_pictures(trace, site, measure, metric, ranking, (order, keep) if name == KEPT else None)
    if is_long:
        # After the open head, which a person need not wait for; and of this attention alone.
        with progress:
            grid.send_long(trace, site)
        return
    for other in trace.sites:
        if other != site and not long_texts.is_long(trace, other):
            with slots[other]:
                grid.send(trace, other, measure)


def _metrics(trace: "Trace", site: str) -> Mapping[str, Float[np.ndarray, "layer head"]] | None:
    """The metrics of all heads; of a long text they take a while, and meanwhile there is their progress."""
    if not long_texts.is_long(trace, site):
        return attention.head_metrics(trace, site)
    task = long_texts.metrics_task(trace, site)
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
    if measure != grid.measure_of(trace, site):
        # The controls, and what sends the tiles, stand outside of this part of the page.
        st.rerun()
    if by_kept is not None:
        metric = linked_heads.tile_metric(trace, site)
        ranking = None if metric is None else head_metrics.ranking(metric, *by_kept)
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            addresses = grid.draw(trace, site, measure, metric, ranking)
            if not MEASURES[measure].is_per_head:
                frame.small_print("A rollout combines the heads of a layer: one tile per layer, up to that layer.")
            elif signs := grid.signs_said(site):
                st.caption(signs)
            if state.current().common.whole_words:
                # Else it is explained beside the open head; of the tiles, those who point at one see tokens.
                captions.show_sign(trace)
            linked_heads.show(trace, site, partial(frame.rerun, show))
        with st.container():
            panel.show(trace, site, addresses)


def _show_presented(trace: "Trace") -> None:
    """The screen on which the presentation is."""
    site = state.current().common.site
    controls.fit_measure(measures.offered(models.abilities(state.current().model)))
    screen = present.steps(_SCREENS, "screen")
    with st.container(key="below-a-sentence"):
        captions.show_headline(trace)
        if screen:
            panel.picture(trace, site, DRAWN_AS[screen - 1])
            return
        measure = grid.measure_of(trace, site)
        with st.container(key="beside-each-other"):
            heads, head = st.columns((11, 13), gap="xsmall")
        with heads:
            grid.draw(trace, site, measure)
        with head:
            panel.picture(trace, site, DRAWN_AS[0])
    with st.container(gap=None):
        if long_texts.is_long(trace, site):
            grid.send_long(trace, site)
        else:
            grid.stop_long()
            grid.send(trace, site, measure)
