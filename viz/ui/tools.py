"""Offer, in the head of every page, what can be done with any view: undo, redo, pin, present."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import streamlit as st

from viz.components.head_tools.component import head_tools
from viz.selection import state
from viz.ui import present

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage


def show() -> None:
    """The buttons."""
    head_tools(
        is_presented=present.is_on(),
        is_pinned=False,
        on_undo=_undo,
        on_pin=lambda: None,
        on_present=present.switch,
    )


def follow_undo(pages: "Iterable[StreamlitPage]", opened: "StreamlitPage") -> None:
    """Open the page of a choice that was undone, or done again, if it is another one than the one that is opened."""
    wanted = state.page_wanted(opened.url_path)
    for page in pages:
        if page.url_path == wanted:
            st.switch_page(page)


def _undo(by: int) -> None:
    if not state.undo(by):
        st.toast("Nothing more to undo." if by > 0 else "Nothing to do again.")
