"""One head, opened: its weights in full. Knows nothing of how they are computed."""

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz import controls, frame
from viz.export.names import file_name, head_name
from viz.figures.heads import head_heatmap

if TYPE_CHECKING:
    from model import Trace


def show(trace: "Trace", site: str, weights: Float[np.ndarray, "layer head query key"]) -> None:
    """The chosen head of a site, of which all weights are given."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = controls.layer(trace.num_layers)
        head = controls.head(trace.num_heads)
    st.plotly_chart(
        head_heatmap(weights[layer, head], *trace.axis_tokens(site)),
        key="open-head",
        config=frame.chart_config(file_name(head_name(site, layer, head), sentence=trace.text)),
        alt=f"{controls.SITE_LABELS[site]}, layer {layer + 1}, head {head + 1}: weights as a heatmap",
    )
