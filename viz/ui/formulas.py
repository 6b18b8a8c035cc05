"""Show the formulas of a page and their sources, which a Markdown file beside it holds."""

from pathlib import Path

import streamlit as st

from viz.core.formula_files import formulas
from viz.core.messages import _


def show(file: Path) -> None:
    """Show each part of a file, as `viz.core.formula_files` has them: its title, its formula, what to know of it."""
    for part in formulas(file.read_text(encoding="utf-8")):
        if part.title:
            st.markdown(f"**{_(part.title)}**")
        st.latex(part.tex)
        st.caption(_(part.text))
