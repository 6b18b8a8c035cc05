"""bertviz's own views of the sentence. Knows nothing of how they are made."""

from typing import TYPE_CHECKING

import streamlit as st

from viz import frame

if TYPE_CHECKING:
    from model import Trace


@frame.fragment
def show(trace: "Trace") -> None:
    """bertviz's head view."""
    # bertviz brings IPython with it; most visits never open this tab.
    from viz.bertviz_view import bertviz_height, bertviz_page

    st.caption(
        "bertviz's head view. A line leads from a token on the left to one it attends to; its strength is the "
        "weight, its colour the head. Point at a token to see its lines alone; click a colour to switch the "
        "head off or on, double-click it to see only that head."
    )
    st.iframe(
        bertviz_page(trace, dark=st.context.theme.type == "dark"),
        height=bertviz_height(trace),
        alt="bertviz's head view of the same sentence",
    )
