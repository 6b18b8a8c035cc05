"""Show a number of every head of the three attentions as maps with one scale."""

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.core import sites
from viz.figures.head_map import head_map
from viz.ui import frame


def show(
    values: Float[np.ndarray, "site layer head"], *, title: str, bound: float, key: str, name: str, alt: str
) -> None:
    """Show the maps side by side.

    Args:
        values: NaN where a head has none.
        title: what the number is called.
        bound: the scale reaches at least this far from 0: so much would decide the choice.
        key: of the widgets; the site is added, as it is to `name`, that of the saved files.
        alt: what a map shows, with {} for its site.
    """
    floor = max(bound, float(np.nanmax(np.abs(values))))
    with st.grid(3, min_column_width=250, gap="medium"):
        for site, of_site in zip(sites.SITES, values, strict=True):
            with st.container():
                figure = head_map(of_site, title=title, centre=0.0, floor=floor)
                # Three maps side by side leave room for bare numbers.
                numbers = [str(head + 1) for head in range(of_site.shape[1])]
                title_of_heads = {"text": f"{sites.label(site)}, head", "standoff": 2}
                figure.update_layout(xaxis={"ticktext": numbers, "title": title_of_heads})
                frame.chart(figure, f"{key}-{site}", f"{name}-{site}", alt.format(site))
