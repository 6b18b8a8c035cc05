"""A picture of 2 × 3 patches of which only the query's row is sent, as of large ones; no model is needed."""

import numpy as np
import streamlit as st

from viz.pages.attention.opened_head.panel import PictureData, picture_attention

TOKENS = ("[CLS]", "1·1", "1·2", "1·3", "2·1", "2·2", "2·3")


def choose(query: int) -> None:
    st.session_state.query = query


query = st.session_state.setdefault("query", 1)
data = PictureData(
    pixels=np.full((20, 30, 3), 128, np.uint8),
    rows=2,
    columns=3,
    first_patch=1,
    tokens=TOKENS,
    # To the token without a place in the picture a query gives a tenth of its number.
    values=np.array([[query / 10, 0.1, 0, 0, 0, 0, 0.2]], np.float32),
    number="weight",
    title="Invented",
    query=query,
)
picture_attention(data, on_query=choose, key="picture")
