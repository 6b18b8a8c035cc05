"""All metrics of all heads of a site as a table, whose rows show heads; and what an atlas is as CSV.

In files sites are named as in arrays.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.pages.atlas import head_panel
from viz.pages.atlas.view import View
from viz.pictures.head_table.component import HeadColumn, HeadTable, head_table
from viz.selection import state
from viz.text import written
from viz.text.messages import _, said
from viz.text.written import NamedHead, file_name
from viz.ui import frame, number_controls
from viz.ui.trace_tables import digits, table

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas


def show(atlas: "Atlas", view: View) -> None:
    """All metrics of all heads of the site; a row shows its head below, its name opens it."""
    layers, heads = view.values.shape
    common = state.current().common
    columns = [HeadColumn(each.name, each.values.ravel(), each.decimals, each.unit) for each in view.maps]
    names = [NamedHead(view.site, *head) for head in np.ndindex(layers, heads)]
    label = said("All metrics of all heads of this attention")
    head_table(
        HeadTable(names, columns, label, common.layer * heads + common.head),
        key="atlas-table",
        on_row=lambda row: state.change(layer=row // heads, head=row % heads),
    )
    frame.small_print(
        "Click a title to sort, a row to show its head below, its name to open it. The file contains every "
        "attention, also by norms."
    )
    make = partial(all_metrics, atlas, written.SITES)
    number_controls.table_button(_("All heads and metrics (CSV)"), make, file_name("atlas"))
    with st.container(border=True):
        head_panel.show(atlas, view)


def one_metric(values: Float[np.ndarray, "layer head"]) -> bytes:
    """One metric at one site: a row per layer, a column per head; cells without the metric are empty."""
    rows = ((layer, *_known(numbers)) for layer, numbers in enumerate(digits(values)))
    return table(("layer", *(f"head_{head}" for head in range(1, values.shape[1] + 1))), rows)


def all_metrics(atlas: "Atlas", sites: Sequence[str]) -> bytes:
    """Every metric of every head: a row for each head of the model."""
    indices = list(np.ndindex(*atlas.mean_outputs.shape[:3]))
    columns = digits(np.stack([values.ravel() for values in atlas.metrics.values()], axis=1))
    rows = (
        (sites[site], layer, head, *_known(numbers))
        for (site, layer, head), numbers in zip(indices, columns, strict=True)
        if _is_there(atlas, sites[site], layer, head)
    )
    return table(("site", "layer", "head", *atlas.metrics), rows)


def _is_there(atlas: "Atlas", site: str, layer: int, head: int) -> bool:
    of_layers = atlas.heads.get(site, ())
    return layer < len(of_layers) and head < of_layers[layer]


def distances(values: Float[np.ndarray, "layer_head layer_head"], heads: int) -> bytes:
    """How far heads of a site are from one another: a row and a column for each, named as on pages."""
    names = [written.head_label(*divmod(index, heads)) for index in range(len(values))]
    return table(("head of layer", *names), ((name, *row) for name, row in zip(names, digits(values), strict=True)))


def _known(numbers: Sequence[str]) -> list[str]:
    return ["" if number == "nan" else number for number in numbers]
