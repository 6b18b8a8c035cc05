"""What the chosen model is, what it learned from, how well it does."""

import streamlit as st

from viz.access import models
from viz.selection import state
from viz.text.messages import _
from viz.ui import frame

head = frame.title(
    _("Model"),
    _(
        "The checkpoint chosen on the left: what it consists of, what it learned from, and what it does well and "
        "badly. The sentence is not used here."
    ),
)
with frame.errors_shown():
    selection = state.current()
    # The spinner in a box of its own: in one place only the later of the two is shown.
    with st.skeleton(height=frame.SKELETON_HEIGHT), st.container(), frame.loading():
        # After the title, which waits for no library.
        from viz.pages.model_card import sections

        models.abilities(selection.model)
    sections.show(selection, head)
    sections.python(selection)
