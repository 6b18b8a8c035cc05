"""Show the formulas of a page and their sources, which a Markdown file beside it holds."""

from pathlib import Path

import streamlit as st


def show(file: Path) -> None:
    """Show each part of a file: its title, its formula as TeX, and what to know of it.

    A part begins with a line `## title`, where the title may be empty; `$$` is before and after the formula.
    """
    for part in file.read_text(encoding="utf-8").split("##")[1:]:
        title, _, rest = part.partition("\n")
        _, formula, text = rest.split("$$")
        if title.strip():
            st.markdown(f"**{title.strip()}**")
        st.latex(formula.strip())
        st.caption(" ".join(text.split()))
