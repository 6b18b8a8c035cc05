"""The decoding studio: watch a translation being written, and make the model write another one. Knows no model."""

import streamlit as st

from viz import choices, frame, loader, state, studio, studio_controls
from viz.tabs import beam, branches, cost, edit_attention, film, logit_lens, sampling, take_decoding

frame.title(
    "Decode",
    "The decoder writes one token at a time, from left to right. Step with the buttons or the arrow keys, see what it "
    "weighed and where every head looks, and make it write something else.",
)
with frame.errors_shown():
    with st.spinner("Loading the model …"):
        abilities = loader.abilities(state.current())
    if not frame.lacking(abilities, "decoding", "The attention page shows what its heads look at."):
        tabs = (film, branches, edit_attention, logit_lens, beam, sampling, cost, take_decoding)
        trace = studio.shown()
        studio_controls.above(trace)
        frame.tabs("studio", {name: tab.show for name, tab in zip(choices.STUDIO, tabs, strict=True)}, trace)
