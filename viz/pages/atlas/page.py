"""What every head does over a whole corpus: metrics, likeness, strongest sentences. Knows no measuring."""

import streamlit as st

from viz.pages.atlas import corpus, metric_texts
from viz.pages.atlas import tabs as atlas
from viz.ui import frame

frame.title(
    "Atlas",
    "What every head does, not in one sentence but over many: how sharply it looks, how far, and at which tokens. The "
    "sentence on the left plays no part here; the sentences in which a head is strongest lead back to it.",
)
with frame.errors_shown():
    if not frame.for_translators(
        "The atlas reads 200 sentences with their translations, and its figures of cross-attention come from these.",
        "The attention page has the same figures for one text, under each tile and as an order of heads.",
    ):
        measured = corpus.measured()
        if measured is not None:
            atlas.show(measured)
with st.expander("Formulas and sources", icon=":material/function:"):
    for name, formula, note in metric_texts.FORMULAS:
        st.markdown(f"**{name}**")
        st.latex(formula)
        st.caption(note)
