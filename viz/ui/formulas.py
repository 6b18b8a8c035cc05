"""Show the formulas of a page and their sources, which a Markdown file beside it holds."""

from pathlib import Path

import streamlit as st

from viz.core.formula_files import formulas_in
from viz.core.messages import _


def show(file: Path) -> None:
    """Show each formula of a file of `viz.core.formula_files`: its title, its TeX, and what to know of it."""
    for formula in formulas_in(file.read_text(encoding="utf-8")):
        if formula.title:
            st.markdown(f"**{_(formula.title)}**")
        st.latex(formula.tex)
        st.caption(_(formula.text))
