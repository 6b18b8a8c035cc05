"""Choose the attention and the metric of the atlas, and show its tabs: among them heads as points, near if alike."""

from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import findings
from viz.pages.atlas import data, head_panel, metric_texts
from viz.pages.atlas.figures import head_scatter
from viz.pages.atlas.layer_maps import tab as layer_maps
from viz.pages.atlas.metric_texts import View, maps_of
from viz.selection import state
from viz.selection.choices import CORPUS_METRICS, AtlasTab
from viz.text import written
from viz.text.messages import _, said, shown
from viz.text.written import file_name
from viz.ui import controls, frame

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas
    from model.analysis.metrics.head_jobs import SurestHead


def show_map_of_heads(atlas: "Atlas", view: View) -> None:
    """Heads as points, near ones of which look alike."""
    common = state.current().common
    distances = data.distances(atlas, view.site)
    name = file_name("atlas", "map of heads", view.site, view.read_off)
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            frame.chart_of_heads(
                head_scatter(
                    atlas.map_positions[view.index, : view.shape[0], : view.shape[1]],
                    view.values,
                    distances,
                    site=view.site,
                    name=shown(metric_texts.TEXTS[view.key].name).lower(),
                    shown=[view.shown(value) for value in view.values.flat],
                    ends=view.map.ends,
                    is_centred=view.map.centre is not None,
                    selected=(common.layer, common.head),
                ),
                # A new key with every head: plotly's own selection would make a second click on a head undo the first.
                f"atlas-places-{common.layer}-{common.head}",
                name,
                _("Heads as points; similar heads are close together"),
            )
            message = (
                "Each point is a head, coloured by the metric chosen above as on its map. Heads that attend to the "
                "same tokens are close together: the distance is the square root of the Jensen–Shannon divergence of "
                "their weights. The directions have no meaning. The plane preserves {share_held:.0%} of the squared "
                "distances; the nearest heads shown on hover are those by the full distances. Click a point to open "
                "its head."
            )
            frame.caption(message, share_held=data.share_held(atlas, view.site))
            make = partial(head_panel.distances, distances, view.values.shape[1])
            controls.table_button(_("All distances (CSV)"), make, name)
        with st.container():
            head_panel.show(atlas, view)


#: What is shown where a site has no such metric; every site has this one.
ELSE: Final = "confidence"
_INSTEAD: Final = said("confidence")
#: In the session: the metric that was shown last, and the head that was open.
_LAST: Final = "atlas/last"


@frame.fragment
def show(atlas: "Atlas") -> None:
    """Which attention, metric and reading, and the tabs."""
    found = findings.in_atlas(atlas)
    if found is not None:
        state.propose(site=found.site, layer=found.layer, head=found.head)
    view = _view(atlas, found)
    _open_best(view)
    state.put(state.current().within(*view.shape))
    tabs: list[frame.Tab[AtlasTab]] = [
        ("Maps", layer_maps.show),
        ("Map of heads", show_map_of_heads),
        ("Table", head_panel.show_table),
    ]
    frame.tabs("atlas_tab", tabs, atlas, view)
    st.caption(controls.plain(metric_texts.meaning(view.key, view.site, view.read_off)))


def _open_best(view: View) -> None:
    """Another metric opens on its best head, unless another head was chosen with it."""
    common, what = state.current().common, (view.site, view.name)
    before = st.session_state.get(_LAST)
    best = view.best(1)
    if before is not None and before[0] != what and before[1] == (common.layer, common.head) and best:
        state.change(layer=best[0][0], head=best[0][1])
    common = state.current().common
    st.session_state[_LAST] = what, (common.layer, common.head)


def _view(atlas: "Atlas", found: "SurestHead | None") -> View:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site = controls.site([site for site in written.SITES if site in atlas.heads])
        has_norms = any(name.startswith(metric_texts.PREFIXES["norms"]) for name in atlas.metrics)
        read_off = state.current().atlas.read_off if has_norms else "weights"
        maps = maps_of(atlas, site, read_off)
        known = {head_map.key for head_map in maps}
        state.propose(corpus_metric=found.job.metric if found is not None and found.job.metric in known else ELSE)
        # A metric without a map is in the menu only where a link, or another attention, has it chosen.
        there = known | {state.current().atlas.corpus_metric}
        names = {key: metric_texts.TEXTS[key].name for key in CORPUS_METRICS if key in there}
        key = controls.dropdown("corpus_metric", _("Metric"), names, width=250)
        if has_norms:
            help_text = _(
                "Weights, or the norms of the vectors that a head adds for each token (Kobayashi et al. 2020)."
            )
            controls.segmented("read_off", _("Computed from"), metric_texts.READ_OFF_LABELS, help_text=help_text)
    if key not in known:
        why, instead = metric_texts.why_none(key, site), _(_INSTEAD)
        frame.note("{why} This shows {metric}.", why=why, metric=instead)
        key = ELSE
    return View(site, written.SITES.index(site), data.shape_of(atlas, site), key, read_off, maps)
