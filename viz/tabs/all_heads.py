"""Every head of one attention at a glance, and one of them opened. Knows nothing of how weights are computed."""

from typing import TYPE_CHECKING

import streamlit as st

from viz import controls, frame, loader, state
from viz.components.head_grid import HeadChoice, head_grid
from viz.export.names import file_name
from viz.tabs import opened_head

if TYPE_CHECKING:
    from model import Trace


@frame.fragment
def show(trace: "Trace") -> None:
    """The grid of heads beside the head that is open."""
    site = controls.site(trace.sites)
    selection = state.current()
    weights = loader.all_weights(trace.text, site, selection)
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            chosen = HeadChoice(selection.layer, selection.head)
            name = file_name(site, "all heads", sentence=trace.text)
            head_grid(weights, *trace.axis_tokens(site), selected=chosen, on_open=_open, key="heads", name=name)
        with st.container():
            opened_head.show(trace, site, weights)


def _open(choice: HeadChoice) -> None:
    state.change(layer=choice.layer, head=choice.head)
