"""Show texts whose terms are explained; which of a term's places on a page explains it, the browser decides."""

from typing import Literal

import streamlit as st

from viz.text.glossary import explained

__all__ = ["caption", "explained", "markdown"]


def caption(text: str, *, width: Literal["stretch", "content"] = "stretch", help: str | None = None) -> None:
    """Show Markdown in small print, its terms explained; arguments as of Streamlit."""
    st.caption(explained(text), width=width, help=help)


def markdown(text: str, *, width: Literal["stretch", "content"] = "stretch") -> None:
    """Show Markdown, its terms explained; arguments as of Streamlit."""
    st.markdown(explained(text), width=width)
