"""One server for all demo pages, each at an address of its own name."""

from pathlib import Path

import streamlit as st

DEMOS = sorted(Path(__file__).parent.glob("demo_*.py"))
# The first page has no address of its own.
first = st.Page(lambda: None, title="Demos", url_path="demos")
pages = [st.Page(path, title=path.stem, url_path=path.stem.removeprefix("demo_")) for path in DEMOS]
st.navigation([first, *pages], position="hidden").run()
