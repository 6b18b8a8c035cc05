"""Ablations, of the page on claims: a sentence through models that lack a part, and what each part is worth."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages.why_attention.ablations import side_by_side, worth
from viz.text.messages import _
from viz.ui import frame

if TYPE_CHECKING:
    from model import Trace


@frame.fragment
def show(trace: "Trace") -> None:
    """The sentence through some of the models at once, then the table of all."""
    with frame.errors_shown():
        side_by_side.show(trace)
    st.subheader(_("What each part is worth"), anchor=False)
    worth.show()
