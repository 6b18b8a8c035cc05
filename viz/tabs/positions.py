"""The positional encodings as the model added them. Knows nothing of their formula."""

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from viz import controls, frame, state
from viz.export.names import file_name
from viz.figures.positions import encoding_curves, encoding_heatmap

if TYPE_CHECKING:
    from model import Trace


@frame.fragment
def show(trace: "Trace") -> None:
    """The matrix that was added to the source or the target, and some of its dimensions."""
    side = controls.side()
    st.caption(
        "Each row is what was added to one token. Even dimensions hold a sine and odd ones the cosine of the "
        "same angle, so neighbours alternate. On the left the angle turns fast from token to token, on the "
        "right it hardly moves. Below, single dimensions as curves over the tokens."
    )
    encoding = trace.positional[side].numpy()
    tokens = trace.source_tokens if side == "source" else trace.target_tokens
    st.plotly_chart(
        encoding_heatmap(encoding, tokens),
        key="encoding",
        config=frame.chart_config(file_name("positional encoding", side, sentence=trace.text)),
        alt="Positional encoding, one row a token, one column a dimension",
    )
    selection = state.current()
    known = tuple(d for d in selection.dimensions if d < encoding.shape[1])
    state.put(replace(selection, dimensions=known))
    dimensions = controls.dimensions(encoding.shape[1])
    st.plotly_chart(
        encoding_curves(encoding, dimensions, tokens),
        key="curves",
        config=frame.chart_config(file_name("positional curves", side, sentence=trace.text)),
        alt="The chosen dimensions of the positional encoding over the tokens, one curve each",
    )
