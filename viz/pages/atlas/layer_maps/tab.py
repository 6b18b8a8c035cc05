"""Show all metrics as small maps, layer × head, the chosen one large."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from viz.pages.atlas import head_panel, tables
from viz.pages.atlas.layer_maps.component import HeadMaps, head_maps
from viz.pages.atlas.view import View
from viz.pictures.head_grid.component import HeadChoice
from viz.selection import state
from viz.text.messages import _
from viz.text.sites import file_name
from viz.ui import number_controls

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas


def show(atlas: "Atlas", view: View) -> None:
    """All metrics as little maps, the chosen one large, beside the head that is chosen."""
    common = state.current().common
    name = file_name("atlas", view.key, view.site, view.read_off)
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            head_maps(
                HeadMaps(view.maps, view.key, HeadChoice(common.layer, common.head), name),
                on_map=lambda key: state.change(corpus_metric=key),
                on_head=lambda head: state.change(layer=head.layer, head=head.head),
                key="atlas-maps",
            )
            st.caption(
                _(
                    "Each cell is a head, the lighter, the higher its mean over the corpus. Every metric has a scale "
                    "of its own, from 0 to its highest head; where chance gives a number, colours begin there, warm "
                    "above it and cold below. Click a little map to enlarge it, a cell to open its head."
                )
            )
            number_controls.table_button(_("This map (CSV)"), partial(tables.one_metric, view.values), name)
        with st.container():
            head_panel.show(atlas, view)
