"""What the chosen model is, what it learned from, how well it does."""

import streamlit as st

from viz.access import models
from viz.selection import state
from viz.selection.choices import ModelCardTab
from viz.text.messages import _
from viz.ui import downloads, frame

frame.title(_("Model")).caption(
    _(
        "The checkpoint chosen on the left: what it consists of, what it learned from, and what it does well and "
        "badly. The sentence is not used here."
    )
)
with frame.errors_shown():
    selection = state.current()
    with frame.loading(), st.skeleton(height=frame.SKELETON_HEIGHT):
        # After the title, which waits for no library.
        from viz.pages.model_card import tabs

        models.abilities(selection.model)
    every_tab: list[frame.Tab[ModelCardTab]] = [
        ("Overview", tabs.overview),
        ("Data and training", tabs.data_and_training),
        ("Scores", tabs.scores),
        ("Card", tabs.whole_card),
    ]
    is_ours = models.is_english_german(selection.model)
    frame.tabs("model_card_tab", [tab for tab in every_tab if is_ours or tab[0] in tabs.TABS_OF_OTHERS], selection)
    downloads.python("model_card_tab", tabs.VIEWS)
