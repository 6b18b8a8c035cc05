"""Show the formulas of a page and their sources, which a Markdown file beside it holds."""

from pathlib import Path

import streamlit as st

from viz.text.formula_files import formulas_in
from viz.text.messages import _


def in_a_row(*formulas: str) -> None:
    """Formulas in TeX beside one another, or below one another where the page is too narrow for that."""
    with st.container(horizontal=True, horizontal_alignment="center", gap="medium"):
        for tex in formulas:
            st.latex(tex, width="content")


def show(file: Path) -> None:
    """Show each formula of a file of `viz.text.formula_files`: its title, its TeX, and what to know of it."""
    for formula in formulas_in(file.read_text(encoding="utf-8")):
        if formula.title:
            st.markdown(f"**{_(formula.title)}**")
        st.latex(formula.tex)
        st.caption(_(formula.text))
