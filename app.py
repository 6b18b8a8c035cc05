"""Headlight in the browser, `streamlit run app.py`: page configuration, shared sidebar, navigation; nothing else."""

from pathlib import Path

import streamlit as st

from viz import garbage, shelf, state, turns
from viz.add_model import say_missing
from viz.sidebar import sidebar

# A file of our own: Streamlit fetches a Material icon for the browser's tab from the network.
MARK = Path(__file__).parent / "viz" / "mark.svg"
st.set_page_config(page_title="Headlight", page_icon=str(MARK), layout="wide", initial_sidebar_state=290)
st.logo(str(MARK), size="large")
# Without icons all of them fit beside one another at 800 pixels.
PAGES = [
    st.Page("viz/pages/attention.py", title="Attention", default=True),
    st.Page("viz/pages/decode.py", title="Decode"),
    st.Page("viz/pages/compare.py", title="Compare"),
    st.Page("viz/pages/atlas.py", title="Atlas"),
    st.Page("viz/pages/masks_positions.py", title="Masks & positions", url_path="masks"),
    st.Page("viz/pages/model.py", title="Model"),
]
page = st.navigation(PAGES, position="top")
names = list(shelf.models())
state.begin(names)
sidebar(names)
say_missing(names)
with turns.given_back():
    page.run()
state.publish()
garbage.set_modules_aside()
