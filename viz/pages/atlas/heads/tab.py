"""All metrics of all heads as maps, layer × head, and as a table; beside them the head that is open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
import streamlit as st

from viz.access import findings
from viz.pages.atlas import head_panel, metric_texts
from viz.pages.atlas.metric_texts import HeadMap, View
from viz.pictures.component import Component
from viz.pictures.head_grid.component import HeadChoice, Pair, hear_head
from viz.pictures.head_table.component import HeadColumn, HeadTable, head_table
from viz.pictures.payload import CHOSEN, hear
from viz.selection import state
from viz.text import written
from viz.text.messages import _, said
from viz.text.metrics import METRICS, OF_A_CORPUS
from viz.text.written import NamedHead, file_name
from viz.theme import DIVERGING_INKS, SEQUENTIAL_INKS, Inks
from viz.ui import controls, frame, present, terms

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas
    from model.analysis.metrics.head_jobs import SurestHead


_COMPONENT: Final = Component("pages/atlas/heads/head_maps.js", "pages/atlas/heads/head_maps.css")


@dataclass(frozen=True, eq=False, slots=True)
class HeadMaps:
    """What is drawn."""

    site: str  #: whose heads they are
    maps: Sequence[HeadMap]  #: at least one, all of the same shape
    chosen: Annotated[str, CHOSEN]  #: key of the one that is large
    selected: Annotated[Pair, CHOSEN]  #: the head that is marked
    name: Annotated[str, CHOSEN]  #: of the saved picture, without its ending
    scale: Inks = SEQUENTIAL_INKS
    centred: Inks = DIVERGING_INKS

    def derived(self) -> dict[str, object]:
        """Rows and columns of every map."""
        layers, heads = self.maps[0].values.shape
        return {"layers": layers, "heads": heads}


#: What is shown where a site has no such metric; every site has this one.
ELSE: Final = "confidence"
#: In the session: the metric that was shown last, and the head that was open.
_LAST: Final = "atlas/last"


def show(atlas: "Atlas") -> None:
    """The choice of attention and metric, the maps beside the head that is open, and the table, unfolded."""
    found = findings.in_atlas(atlas)
    if found is not None:
        state.propose(site=found.site, layer=found.layer, head=found.head)
    view = _chosen(atlas, found)
    _open_best(view)
    state.fit({state.current().common.site: view.shape})
    common = state.current().common
    name = file_name("atlas", view.key, view.site, view.read_off)
    # On a projector a metric without sentences has the whole width for its map.
    is_alone = present.is_on() and view.name not in atlas.strongest
    with (
        st.container(key="atlas-alone" if is_alone else None),
        st.grid(1 if is_alone else 2, min_column_width=430, gap="medium"),
    ):
        with st.container():
            head_maps(
                HeadMaps(view.site, view.maps, view.key, HeadChoice(common.layer, common.head), name),
                on_map=lambda key: state.change(corpus_metric=key),
                on_head=lambda head: state.change(layer=head.layer, head=head.head),
                key="atlas-maps",
            )
            frame.caption(
                "Each cell is a head; the lighter, the higher its mean over the corpus. Each metric has its own "
                "colour scale, from 0 to its highest value. If the metric has a chance level, colours start there: "
                "warm above it, cold below. Click a small map to enlarge it, or a cell to open its head."
            )
            says = view.metric.meaning_at(view.site, view.read_off)
            terms.caption(controls.plain(_("{name}: {meaning}.", name=view.metric.name, meaning=says)))
        with st.container():
            head_panel.show(atlas, view)
    label = _("All metrics of all heads as a table")
    key = state.bind("atlas_table", always=False)
    with st.expander(label, key=key, on_change=state.take, args=("atlas_table",)) as table:
        if table.open:
            _table(view)


def _open_best(view: View) -> None:
    """Another metric opens on its best head, unless another head was chosen with it."""
    common, what = state.current().common, (view.site, view.name)
    before, head_before = st.session_state.get(_LAST, (what, None))
    if before != what and head_before == (common.layer, common.head):
        for layer, head in view.best(1):
            state.change(layer=layer, head=head)
    common = state.current().common
    st.session_state[_LAST] = what, (common.layer, common.head)


def _chosen(atlas: "Atlas", found: "SurestHead | None") -> View:
    with st.container(key="choices", horizontal=True, vertical_alignment="bottom"):
        site = controls.site([site for site in written.SITES if site in atlas.heads])
        read_off = metric_texts.read_off(atlas)
        known = {head_map.key for head_map in metric_texts.maps_of(atlas, site, read_off)}
        state.propose(corpus_metric=found.job.metric if found is not None and found.job.metric in known else ELSE)
        # A metric without a map is in the menu only where a link, or another attention, has it chosen.
        there = known | {state.current().atlas.corpus_metric}
        names = {key: METRICS[key].name for key in OF_A_CORPUS if key in there}
        key = controls.dropdown("corpus_metric", _("Metric"), names, width=250)
        metric_texts.read_off_control(atlas)
    if key not in known:
        frame.note("{why} Confidence is shown instead.", why=metric_texts.why_none(atlas, key, site))
        key = ELSE
    return metric_texts.view_of(atlas, site, key, read_off)


def _table(view: View) -> None:
    """All metrics of all heads of the site; a row opens its head above, its name on the Attention page."""
    layers, heads = view.shape
    common = state.current().common
    head_table(
        HeadTable(
            [NamedHead(view.site, *head) for head in np.ndindex(layers, heads)],
            [HeadColumn(each.name, each.values.ravel(), each.decimals, each.unit) for each in view.maps],
            said("All metrics of all heads of this attention"),
            common.layer * heads + common.head,
        ),
        key="atlas-table",
        on_row=lambda row: state.change(layer=row // heads, head=row % heads),
    )
    frame.caption(
        "Click a column title to sort, a row to open its head above, or the name of a head to open it on the "
        "Attention page."
    )


def head_maps(
    maps: HeadMaps, *, on_map: Callable[[str], object], on_head: Callable[[HeadChoice], object], key: str
) -> None:
    """Show all maps; `on_map` and `on_head` are called before the next run, with what a person chose."""
    _COMPONENT.show(
        maps,
        key=key,
        map=hear(on_map, str, key={head_map.key for head_map in maps.maps}),
        head=hear_head(on_head, maps.maps[0].values.shape),
    )
