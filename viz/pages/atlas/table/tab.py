"""Show all metrics of all heads of a site as a table; a row opens its head."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from viz.pages.atlas import head_panel, tables
from viz.pages.atlas.view import View
from viz.selection import state
from viz.server.widgets import sent
from viz.text import sites
from viz.text.messages import _, shown
from viz.text.sites import file_name
from viz.ui import number_controls

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas


def show(atlas: "Atlas", view: View) -> None:
    """All metrics of all heads of the site; a row opens its head."""
    layers, heads = view.values.shape
    common = state.current().common
    columns: dict[str, list[float | None] | list[str]] = {
        _("Head"): [sites.head_label(*head) for head in np.ndindex(layers, heads)],
    }
    numbers = {}
    for metric in view.maps:
        name = shown(metric.name)
        columns[name] = [None if np.isnan(value) else float(value) for value in metric.values.flat]
        numbers[name] = st.column_config.NumberColumn(format=f"%.{metric.decimals}f", help=shown(metric.unit) or None)
    st.session_state["atlas-table"] = {"selection": {"rows": [common.layer * heads + common.head]}}
    st.dataframe(
        columns,
        height=420,
        hide_index=True,
        column_config=numbers,
        key="atlas-table",
        on_select=partial(open_row, layers, heads),
        selection_mode="single-row-required",
        alt=_("All metrics of all heads of this attention"),
    )
    st.caption(
        _("A click on a title sorts. Choose a row to open its head. The file has every attention, also by norms.")
    )
    make = partial(tables.all_metrics, atlas, sites.SITES)
    number_controls.table_button(_("All heads and metrics (CSV)"), make, file_name("atlas"))
    with st.container(border=True):
        head_panel.show(atlas, view)


def open_row(layers: int, heads: int) -> None:
    """Open the head of the row that was chosen, if there is such a row."""
    match sent("atlas-table", "selection", "rows"):
        case [int(row), *_] if 0 <= row < layers * heads:
            layer, head = divmod(row, heads)
            state.change(layer=layer, head=head)
