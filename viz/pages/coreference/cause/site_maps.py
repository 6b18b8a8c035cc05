"""Show a number of every head as a map for each attention, with one scale."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.pictures.figures.head_map import head_map
from viz.text import sites
from viz.text.messages import _
from viz.ui import frame

if TYPE_CHECKING:
    from model.analysis.metrics.head_names import HeadName


def by_site(
    values: Float[np.ndarray, "head"], heads: "Sequence[HeadName]"
) -> dict[str, Float[np.ndarray, "layer head_of_layer"]]:
    """Site → its heads' values as a table; NaN where a layer has fewer heads than another."""
    tables = {}
    for site in sites.SITES:
        here = [(head, value) for head, value in zip(heads, values.tolist(), strict=True) if head.site == site]
        if here:
            shape = (1 + max(head.layer for head, _ in here), 1 + max(head.head for head, _ in here))
            tables[str(site)] = np.full(shape, np.nan)
            for head, value in here:
                tables[site][head.layer, head.head] = value
    return tables


def show(
    values: Float[np.ndarray, "head"],
    heads: "Sequence[HeadName]",
    *,
    title: str,
    bound: float,
    key: str,
    name: str,
    alt: Callable[[str], str],
) -> None:
    """Show the maps side by side.

    Args:
        values: NaN where a head has none.
        heads: these.
        title: what the number is called.
        bound: the scale reaches at least this far from 0: so much would decide the choice.
        key: of the widgets; the site is added, as it is to `name`, that of the saved files.
        alt: site → what its map shows, for those who hear it.
    """
    floor = max(bound, float(np.nanmax(np.abs(values))))
    tables = by_site(values, heads)
    with st.grid(len(tables), min_column_width=250, gap="medium"):
        for site, of_site in tables.items():
            with st.container():
                figure = head_map(of_site, title=title, centre=0.0, floor=floor)
                # Three maps side by side leave room for bare numbers.
                numbers = [str(head + 1) for head in range(of_site.shape[1])]
                title_of_heads = {"text": _("{attention}, head", attention=sites.label(site)), "standoff": 2}
                figure.update_layout(xaxis={"ticktext": numbers, "title": title_of_heads})
                frame.chart(figure, f"{key}-{site}", f"{name}-{site}", alt(site))
