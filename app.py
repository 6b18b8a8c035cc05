"""Headlight in the browser, `streamlit run app.py`: page configuration, shared sidebar, navigation; nothing else."""

from pathlib import Path

import streamlit as st

from viz import state
from viz.loader import checkpoint_names
from viz.sidebar import sidebar

# A file of our own: Streamlit fetches a Material icon for the browser's tab from the network.
MARK = Path(__file__).parent / "viz" / "mark.svg"
st.set_page_config(page_title="Headlight", page_icon=str(MARK), layout="wide", initial_sidebar_state=290)
st.logo(str(MARK), size="large")
PAGES = [
    st.Page("viz/pages/attention.py", title="Attention", icon=":material/grid_view:", default=True),
    st.Page("viz/pages/decode.py", title="Decode", icon=":material/skip_next:"),
    st.Page("viz/pages/compare.py", title="Compare", icon=":material/compare_arrows:"),
    st.Page("viz/pages/atlas.py", title="Atlas", icon=":material/map:"),
    st.Page("viz/pages/masks_positions.py", title="Masks & positions", icon=":material/waves:", url_path="masks"),
    st.Page("viz/pages/model.py", title="Model", icon=":material/description:"),
]
page = st.navigation(PAGES, position="top")
names = checkpoint_names()
state.begin(names)
sidebar(names)
page.run()
state.publish()
