"""Heads switched off and patched, of the compare page."""

import streamlit as st


def show() -> None:
    """Stands here until the tab is built."""
    st.caption("Not built yet.")
