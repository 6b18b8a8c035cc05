"""The tabs of the atlas: all metrics as maps, heads on a map of their likeness, all numbers in a table.

Knows nothing of how a metric is measured.
"""

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.components.head_grid.component import HeadChoice
from viz.core import sites
from viz.core.file_names import file_name
from viz.pages.atlas import data, head_panel, metric_texts
from viz.pages.atlas import tables as atlas_tables
from viz.pages.atlas.figures import head_scatter
from viz.pages.atlas.layer_maps.component import head_maps
from viz.pages.atlas.layer_maps.view import View, maps_of
from viz.selection import state
from viz.selection.atlas import CORPUS_METRICS, READ_OFF, AtlasTab
from viz.ui import controls, frame, number_controls

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas

#: What is shown where a site has no such metric; every site has this one.
ELSE: Final = "confidence"
TABLE_HEIGHT: Final = 420


@frame.fragment
def show(atlas: "Atlas") -> None:
    """Which attention, metric and reading, and the tabs."""
    layers, heads = atlas.mean_outputs.shape[1:3]
    state.put(state.current().within(layers, heads))
    view = _view(atlas)
    st.caption(controls.plain(metric_texts.meaning(view.key, view.site, view.read_off)))
    tabs: list[frame.Tab[AtlasTab]] = [
        ("Layer × head", show_maps),
        ("Map of heads", show_map_of_heads),
        ("Table", show_table),
    ]
    frame.tabs("atlas_tab", tabs, atlas, view)


def _view(atlas: "Atlas") -> View:
    site = controls.site(sites.SITES)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(
            "Figure",
            CORPUS_METRICS,
            key=state.bind("corpus_metric"),
            format_func=lambda key: metric_texts.TEXTS[key].name,
            width=250,
            on_change=state.take,
            args=("corpus_metric",),
        )
        st.segmented_control(
            "Read off",
            READ_OFF,
            key=state.bind("read_off"),
            format_func=metric_texts.READ_OFF_LABELS.__getitem__,
            required=True,
            help="Weights, or how long the vectors are that a head adds for each token (Kobayashi et al. 2020).",
            on_change=state.take,
            args=("read_off",),
        )
    place, read_off, key = sites.SITES.index(site), state.current().atlas.read_off, state.current().atlas.corpus_metric
    maps = maps_of(atlas, place, read_off)
    if key not in {one.key for one in maps}:
        st.info(f"{metric_texts.why_none(key, site)} This shows {ELSE}.", icon=":material/info:")
        key = ELSE
    return View(site, place, key, read_off, maps)


def show_maps(atlas: "Atlas", view: View) -> None:
    """All metrics as little maps, the chosen one large, beside the head that is chosen."""
    common = state.current().common
    name = _file(view, view.key)
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            head_maps(
                view.maps,
                chosen=view.key,
                selected=HeadChoice(common.layer, common.head),
                on_map=lambda key: state.change(corpus_metric=key),
                on_head=_open,
                key="atlas-maps",
                name=name,
            )
            st.caption(
                "Each cell is a head, the lighter, the higher its mean over the corpus. Every figure has a scale of "
                "its own, from 0 to its highest head. Click a little map to enlarge it, a cell to open its head."
            )
            number_controls.table_button("This map (CSV)", partial(atlas_tables.one_metric, view.values), name)
        with st.container():
            head_panel.show(atlas, view)


def show_map_of_heads(atlas: "Atlas", view: View) -> None:
    """Heads as points, near ones of which look alike."""
    common = state.current().common
    distances = data.distances(atlas, view.place)
    name = _file(view, "map of heads")
    # A new key with every head: plotly's own selection would make a second click on a head undo the first.
    key = f"atlas-places-{common.layer}-{common.head}"
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            st.plotly_chart(
                head_scatter(
                    atlas.map_positions[view.place],
                    view.values,
                    distances,
                    name=metric_texts.TEXTS[view.key].name.lower(),
                    shown=[view.shown(value) for value in view.values.flat],
                    selected=(common.layer, common.head),
                ),
                key=key,
                on_select=partial(_open_point, key, view.values.shape),
                selection_mode="points",
                config=frame.chart_config(name),
                alt="Heads as points named layer.head; those that look alike lie near one another",
            )
            st.caption(
                "A point is a head, named layer.head; heads that look at the same tokens lie near one another, by the "
                "root of the Jensen–Shannon divergence of their weights. The directions mean nothing. The plane holds "
                f"{data.share_held(atlas, view.place):.0%} of the squared distances; the nearest heads that are "
                "named on hover are those of the full distances. Click a point to open its head."
            )
            make = partial(atlas_tables.distances, distances, view.values.shape[1])
            number_controls.table_button("All distances (CSV)", make, name)
        with st.container():
            head_panel.show(atlas, view)


def show_table(atlas: "Atlas", view: View) -> None:
    """All metrics of all heads of the site; a row opens its head."""
    layers, heads = view.values.shape
    common = state.current().common
    columns: dict[str, list[float | int | None]] = {
        "Layer": [layer + 1 for layer in range(layers) for _ in range(heads)],
        "Head": [head + 1 for _ in range(layers) for head in range(heads)],
    }
    numbers = {}
    for one in view.maps:
        columns[one.name] = [None if np.isnan(value) else float(value) for value in one.values.flat]
        numbers[one.name] = st.column_config.NumberColumn(format=f"%.{one.decimals}f", help=one.unit or None)
    st.session_state["atlas-table"] = {"selection": {"rows": [common.layer * heads + common.head]}}
    st.dataframe(
        columns,
        height=TABLE_HEIGHT,
        hide_index=True,
        column_config=numbers,
        key="atlas-table",
        on_select=partial(_open_row, heads),
        selection_mode="single-row-required",
        alt="All figures of all heads of this attention",
    )
    st.caption(
        "A click on a title sorts. Choose a row to open its head. The file has all three attentions, also by norms."
    )
    make = partial(atlas_tables.all_metrics, atlas, sites.SITES)
    number_controls.table_button("All heads and figures (CSV)", make, file_name("atlas"))
    with st.container(border=True):
        head_panel.show(atlas, view)


def _open(choice: HeadChoice) -> None:
    state.change(layer=choice.layer, head=choice.head)


def _open_point(key: str, shape: tuple[int, int]) -> None:
    """A point was clicked; the browser's word for it is checked."""
    points: list[dict[str, object]] = st.session_state[key]["selection"]["points"]
    custom = points[0].get("customdata") if points else None
    # plotly hands back a list as it was, or as an object of its places.
    if isinstance(custom, dict):
        custom = [custom.get("0"), custom.get("1")]
    if not isinstance(custom, list) or len(custom) < 2:
        return
    layer, head = custom[:2]
    if isinstance(layer, int) and isinstance(head, int) and 0 <= layer < shape[0] and 0 <= head < shape[1]:
        _open(HeadChoice(layer, head))


def _open_row(heads: int) -> None:
    rows: list[int] = st.session_state["atlas-table"]["selection"]["rows"]
    if rows:
        _open(HeadChoice(*divmod(int(rows[0]), heads)))


def _file(view: View, what: str) -> str:
    return file_name("atlas", what, view.site, view.read_off)
