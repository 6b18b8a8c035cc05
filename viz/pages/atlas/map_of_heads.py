"""Show heads as points, near ones of which look at the same tokens."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from viz.pages.atlas import data, head_panel, metric_texts, table
from viz.pages.atlas.figures import head_scatter
from viz.pages.atlas.view import View
from viz.selection import state
from viz.text.messages import _, shown
from viz.text.written import file_name
from viz.ui import frame, number_controls

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas


def show(atlas: "Atlas", view: View) -> None:
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
            make = partial(table.distances, distances, view.values.shape[1])
            number_controls.table_button(_("All distances (CSV)"), make, name)
        with st.container():
            head_panel.show(atlas, view)
