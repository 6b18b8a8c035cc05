"""Declare a component that the browser draws, by the ES module of its script."""

from functools import wraps
from pathlib import PurePosixPath
from typing import Any, cast

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from viz.core import bundle, payload, script_files, script_texts


def declare(script: str, style: str | None = None) -> ComponentRenderer:
    """A component by its script, whose class names the element that it draws into: `head_grid.js` into `.head-grid`.

    With its data it is given the texts of its script in the language of the page run.

    Args:
        script: its path in `viz`.
        style: likewise, of its style sheet; without one the component shows nothing and is hidden.
    """
    name = PurePosixPath(script).stem
    hidden = " hidden" if style is None else ""
    component = st.components.v2.component(
        f"headlight_{name}",
        html=f'<div class="{name.replace("_", "-")}"{hidden}></div>',
        css=None if style is None else bundle.styles(style),
        js=script_files.script(script),
    )

    @wraps(component)
    def draw(*, data: bytes, **given: Any) -> Any:
        return component(data=payload.with_language(data, script_texts.language_of(script)), **given)

    return cast(ComponentRenderer, draw)
