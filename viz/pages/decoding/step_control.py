"""The slider by which a tab of the decoding page chooses its step."""

import streamlit as st

from viz.selection import state
from viz.text.messages import _


def slider(steps: int) -> int:
    """The chosen step, from 0."""
    if steps == 1:
        st.caption(_("This translation has one step only."))
        return 0
    chosen = st.select_slider(
        _("Step"),
        range(steps),
        key=state.bind("step"),
        format_func=lambda step: str(step + 1),
        on_change=state.take,
        args=("step",),
    )
    return int(chosen)
