"""Two metrics of every head against each other: a point a head, with a lasso; heads in it are listed."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.pages.atlas import data, head_panel, metric_texts
from viz.pages.atlas.figures import Axis, Points, scatter
from viz.pages.atlas.heads.tab import ELSE
from viz.pages.atlas.metric_texts import HeadMap, maps_of, view_of
from viz.pictures.head_table.component import HeadColumn, HeadTable, head_table
from viz.selection import state
from viz.text import written
from viz.text.messages import _, plural, said
from viz.text.metrics import METRICS, OF_A_CORPUS
from viz.text.written import NamedHead, file_name
from viz.ui import controls, frame, terms
from viz.ui.frame import Head

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas

#: In the session: the heads in the lasso.
_LASSO: Final = "atlas/lasso"
_NAMES: Final = {"few": said("Outermost"), "all": said("All"), "none": said("None")}


def show(atlas: "Atlas") -> None:
    """The choice of both axes, the chart, the heads in the lasso, and the head that is open."""
    with st.container(key="choices", horizontal=True, vertical_alignment="bottom"):
        read_off = metric_texts.read_off(atlas)
        maps = _maps_of_all(atlas, read_off)
        labels = {key: METRICS[key].name for key in OF_A_CORPUS if key in maps}
        across, up = axes_worth_seeing(atlas, read_off)
        state.propose(scatter_x=across, scatter_y=up)
        # What a link, or the other reading, has chosen without a number is proposed anew.
        chosen = state.current().atlas
        if not {chosen.scatter_x, chosen.scatter_y} <= labels.keys():
            state.change(scatter_x=across, scatter_y=up)
        first = controls.dropdown("scatter_x", _("Horizontal axis"), labels, width=210)
        second = controls.dropdown("scatter_y", _("Vertical axis"), labels, width=210)
        metric_texts.read_off_control(atlas)
        named = controls.segmented("scatter_names", _("Names"), _NAMES)
    points = _points(maps, first, second)
    if points:
        # Until a person chooses a head, that with the highest number across is open.
        site, layer, head = max(_every_head(points), key=lambda one: points[one[0]].of(*one[1:])[0])
        state.propose(site=site, layer=layer, head=head)
    _draw(atlas, points, maps, (first, second), named, read_off)


def axes_worth_seeing(atlas: "Atlas", read_off: str) -> tuple[str, str]:
    """The two metrics by which most heads have a job, of heads that have both numbers; equal ones in their order.

    Jobs of heads that only rest do not count. Without any job, the first two metrics that some heads have both of.
    """
    maps = _maps_of_all(atlas, read_off)
    jobs = {
        (site, *head): of_head
        for site in atlas.heads
        for head, of_head in data.job_metrics(
            site, {key: maps[key][site].values for key in maps if site in maps[key]}
        ).items()
    }

    def worth(pair: tuple[str, str]) -> tuple[int, int]:
        both = list(_every_head(_points(maps, *pair)))
        return sum(len(jobs.get(head, set()) & set(pair)) for head in both), len(both)

    return max(combinations(maps, 2), key=worth, default=("confidence", "distance"))


def _maps_of_all(atlas: "Atlas", read_off: str) -> Mapping[str, Mapping[str, HeadMap]]:
    """Metric → attention → its map, of all that some head has."""
    found: dict[str, dict[str, HeadMap]] = {}
    for site in (site for site in written.SITES if site in atlas.heads):
        for head_map in maps_of(atlas, site, read_off):
            found.setdefault(head_map.key, {})[site] = head_map
    return {key: found[key] for key in OF_A_CORPUS if key in found}


def _points(maps: Mapping[str, Mapping[str, HeadMap]], across: str, up: str) -> dict[str, Points]:
    """Two metrics of each attention that has both."""
    sites = [site for site in written.SITES if site in maps[across] and site in maps[up]]
    return {site: Points(maps[across][site].values, maps[up][site].values) for site in sites}


def _every_head(points: Mapping[str, Points]) -> Iterator[Head]:
    for site, of_site in points.items():
        for layer, head in of_site.heads():
            yield site, layer, head


def _draw(
    atlas: "Atlas",
    points: Mapping[str, Points],
    maps: Mapping[str, Mapping[str, HeadMap]],
    metrics: tuple[str, str],
    named: str,
    read_off: str,
) -> None:
    every = list(_every_head(points))
    if not every:
        frame.note(
            "No head has both metrics: they belong to different attentions. Choose another metric for one of the axes."
        )
        return
    common, marked = state.current().common, _marked(every)
    axes = tuple(_axis(next(iter(maps[metric].values()))) for metric in metrics)
    name = file_name("atlas", *metrics, read_off)
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            open_head = common.site, common.layer, common.head
            # A new key with every head: plotly's own selection would make a second click on a head undo the first.
            key = f"atlas-scatter-{common.site}-{common.layer}-{common.head}"
            label = _("Each head as a point: {across} against {up}", across=axes[0].title, up=axes[1].title)
            figure = scatter(points, axes[0], axes[1], selected=open_head, marked=marked, named=named)
            frame.chart_of_heads(figure, key, name, label, on_several=partial(_take, every))
            frame.caption(
                "Each point is a head, placed by its two means over the corpus; colour and shape show which attention "
                "it belongs to. Click a point to open its head; choose the lasso above the chart and draw around "
                "points to list them. The axes first show the two metrics that give the most heads a job."
            )
            if less := sum(map(sum, atlas.heads.values())) - len(every):
                frame.caption("{count} heads have no point: one of the two metrics is undefined for them.", count=less)
            if marked:
                _list(marked, points, axes)
        with st.container():
            key = next((metric for metric in reversed(metrics) if common.site in maps[metric]), ELSE)
            head_panel.show(atlas, view_of(atlas, common.site, key, read_off))


def _axis(head_map: HeadMap) -> Axis:
    return Axis(head_map.name, head_map.unit, head_map.decimals, chance=head_map.centre)


def _marked(every: Sequence[Head]) -> list[Head]:
    """The heads in the lasso, of those that are drawn."""
    kept: set[Head] = set(st.session_state.get(_LASSO, ()))
    return [head for head in every if head in kept]


def _take(every: Sequence[Head], heads: Sequence[Head]) -> None:
    """Keep the heads in a lasso."""
    st.session_state[_LASSO] = tuple(set(heads) & set(every))


def _list(marked: Sequence[Head], points: Mapping[str, Points], axes: Sequence[Axis]) -> None:
    """The heads in the lasso with their numbers; a row opens its head."""
    with st.container(horizontal=True, vertical_alignment="center"):
        terms.markdown(plural("**{count} head** in the lasso", "**{count} heads** in the lasso", len(marked)))
        st.button(
            _("Clear"), key="atlas-lasso-clear", icon=":material/close:", type="tertiary",
            on_click=st.session_state.pop, args=(_LASSO, None),
        )  # fmt: skip
    values = np.array([points[site].of(layer, head) for site, layer, head in marked])
    columns = [HeadColumn(axis.title, values[:, at], axis.decimals, axis.unit) for at, axis in enumerate(axes)]
    common = state.current().common
    open_head = common.site, common.layer, common.head

    def choose(row: int) -> None:
        site, layer, head = marked[row]
        state.change(site=site, layer=layer, head=head)

    head_table(
        HeadTable(
            [NamedHead(*head, with_site=True) for head in marked],
            columns,
            said("Heads in the lasso"),
            marked.index(open_head) if open_head in marked else None,
        ),
        key="atlas-lasso",
        on_row=choose,
    )
