"""One server for all demo pages, each at an address of its own name."""

from pathlib import Path

import streamlit as st

DEMOS = sorted(Path(__file__).parent.glob("demo_*.py"))
st.navigation(
    [st.Page(path, title=path.stem, url_path=path.stem.removeprefix("demo_")) for path in DEMOS], position="hidden"
).run()
