"""Heads as lines over invented attention, alone on a page. `?case=` chooses the size. The page follows it."""

import numpy as np
import streamlit as st

from viz.pages.attention.opened_head.lines_component import LinesData, LinesView, head_lines

CASES = {"small": (4, 6, 5), "long": (8, 128, 128)}
HOSTILE = ("▁the", "▁cat", "<script>alert(1)</script>", "\u202eabc", "שלום", "</s>")

st.set_page_config(layout="wide")
heads, queries, keys = CASES[st.query_params.get("case", "small")]
scores = np.random.default_rng(1).normal(size=(heads, queries, keys)) * 3
values = np.exp(scores)
values = (values / values.sum(-1, keepdims=True)).astype(np.float32)
if "view" not in st.session_state:
    st.session_state.view = LinesView((0,) if heads < 8 else tuple(range(heads)))


@st.fragment
def picture() -> None:
    def take(view: LinesView) -> None:
        st.session_state.view = view
        st.session_state.report = view

    st.button("Heads 2 and 3", on_click=lambda: st.session_state.update(view=LinesView((1, 2))))
    if not st.toggle("Left out"):
        data = LinesData(
            values=values,
            top=1.0,
            query_tokens=tuple(HOSTILE[i % len(HOSTILE)] for i in range(queries)),
            key_tokens=tuple(HOSTILE[i % len(HOSTILE)] for i in range(keys)),
            head_names=tuple(f"L1 H{head + 1}" for head in range(heads)),
            number="weight",
            title="Invented",
            file_name="invented-layer0",
        )
        head_lines(data, st.session_state.view, on_change=take, key="lines")
    view = st.session_state.get("report")
    st.text(f"report: {view and (view.heads, view.query, view.key, view.threshold)}")


picture()
