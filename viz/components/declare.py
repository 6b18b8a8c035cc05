"""Declare a component that the browser draws, by the ES module of its script."""

from pathlib import PurePosixPath

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from viz.core import bundle, script_files


def declare(script: str, style: str | None = None) -> ComponentRenderer:
    """A component by its script, whose class names the element that it draws into: `head_grid.js` into `.head-grid`.

    Args:
        script: its path in `viz`.
        style: likewise, of its style sheet; without one the component shows nothing and is hidden.
    """
    name = PurePosixPath(script).stem
    hidden = " hidden" if style is None else ""
    return st.components.v2.component(
        f"headlight_{name}",
        html=f'<div class="{name.replace("_", "-")}"{hidden}></div>',
        css=None if style is None else bundle.styles(style),
        js=script_files.script(script),
    )
