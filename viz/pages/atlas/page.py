"""Show what every head does over a whole corpus: metrics, likeness, strongest sentences."""

from pathlib import Path

import streamlit as st

from viz.pages.atlas import corpus, tabs
from viz.ui import formulas, frame

frame.title("Atlas").caption(
    "What every head does, not in one sentence but over many: how sharply it looks, how far, and at which tokens. The "
    "sentence on the left plays no part here; the sentences in which a head is strongest lead back to it.",
)
with frame.errors_shown():
    if not frame.for_translators(
        "The atlas reads 200 sentences with their translations, and its metrics of cross-attention come from these.",
        "The attention page has the same metrics for one text, under each tile and as an order of heads.",
    ):
        pictures = st.container()
        measured = corpus.measured(pictures)
        if measured is not None:
            with pictures:
                tabs.show(measured)
with st.expander("Formulas and sources", key="atlas-formulas", icon=":material/function:"):
    formulas.show(Path(__file__).with_name("formulas.md"))
