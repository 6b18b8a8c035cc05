"""Which heads link two tokens: the weight of the kept cell in every head, ranked over all attentions that have it."""

from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import attention
from viz.components.head_grid.component import TileMetric
from viz.core.sites import CROSS, ENCODER, head_label
from viz.core.token_text import display_token
from viz.selection import state
from viz.ui import finding
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace

#: So many heads are listed.
MOST: Final = 6
LABEL: Final = "Kept cell"
_HOW: Final = "Click a cell of the open head, and here stand the heads that link its two tokens most."
#: Attention → row, key.
Cells = dict[str, tuple[int, int]]


def show(trace: "Trace", site: str) -> None:
    """The heads with most weight from the kept query to the kept key, each a button that opens it."""
    row, key = finding.kept(trace)
    if row is None or key is None or not _exists(trace, site, row, key):
        st.caption(_HOW)
        return
    names = trace.row_names(site)[row], trace.axis_tokens(site)[1][key]
    query, word = (plain(display_token(name.replace("▁", "") or name)) for name in names)
    st.markdown(f"**Which heads link “{query}” to “{word}”?**")
    cells = _cells(trace, site, row, key)
    ranked = sorted(
        (-float(weight), other, layer, head)
        for other in cells
        for (layer, head), weight in np.ndenumerate(attention.cell_weights(trace, other, *cells[other]))
        if weight > 0
    )
    if not ranked:
        st.caption("None: the mask lets no head look there, for that token is written later.")
    with st.container(horizontal=True, gap="xsmall"):
        for rank, (negative, other, layer, head) in enumerate(ranked[:MOST]):
            # A key by rank: with another cell the same button says another head.
            label = f"{head_label(layer, head, other)} · {-negative:.4f}"
            if st.button(label, key=f"linked-{rank}"):
                _open(other, layer, head, *cells[other])


def tile_metric(trace: "Trace", site: str) -> TileMetric | None:
    """The weight of the kept cell as the tiles carry it; None where no cell of this attention is kept."""
    row, key = finding.kept(trace)
    if row is None or key is None or not _exists(trace, site, row, key):
        return None
    note = "The weight of the kept query on the kept key in each head. Click another cell to keep that."
    return TileMetric("Kept weight", attention.cell_weights(trace, site, row, key), 2, "", note)


def _cells(trace: "Trace", site: str, row: int, key: int) -> Cells:
    """The kept cell, and the same pronoun and word in the other attention: read by the encoder, written by the decoder.

    Two tokens of a sentence meet in one attention only, but for a pronoun whose translation is known.
    """
    link = finding.of(trace).link
    if link is None or link.step is None:
        return {site: (row, key)}
    pronoun = {ENCODER: link.pronoun_row, CROSS: link.step}
    if row != pronoun.get(site):
        return {site: (row, key)}
    return {other: (own, key) for other, own in pronoun.items()}


def _exists(trace: "Trace", site: str, row: int, key: int) -> bool:
    queries, keys = trace.axis_tokens(site)
    return row < len(queries) and key < len(keys)


def _open(site: str, layer: int, head: int, row: int, key: int) -> None:
    state.change(site=site, layer=layer, head=head, token=row, key_token=key)
    # The choice of an attention stands outside of this part of the page.
    st.rerun()
