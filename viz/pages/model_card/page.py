"""What the chosen model is, what it learned from, how well it does."""

import streamlit as st

from viz.access import models
from viz.core.file_names import file_name
from viz.core.html import table
from viz.pages.model_card import data, facts, other_model, tabs
from viz.pages.model_card.figures import parameter_bars
from viz.selection import state
from viz.selection.model_card import ModelCardTab
from viz.ui import frame

frame.title("Model").caption(
    "The checkpoint chosen on the left: what it is made of, what it learned from, how well it does and what not to "
    "expect of it. The sentence on the left plays no part here.",
)
with frame.errors_shown():
    selection = state.current()
    with frame.loading(), st.skeleton(height=frame.SKELETON_HEIGHT):
        is_ours = models.abilities(selection.model).is_headlight
        shapes = data.shapes(selection.model) if is_ours else []
    if is_ours:
        with st.grid(2, min_column_width=430, gap="medium"):
            with st.container():
                st.html(table(*facts.configuration(shapes), label="Configuration, beside the paper's base and big"))
            with st.container():
                frame.chart(
                    parameter_bars([name for name, _, _ in shapes], [counts for _, _, counts in shapes]),
                    "parameters",
                    file_name("parameters", shapes[0][0]),
                    "Parameters by part, one stacked bar a model: in millions, and as shares of the model",
                )
        st.caption(
            "One bar is a model, one colour a part of it. Above, how many parameters each part has; below, the same as "
            "shares, so that a small model can be read too. *base* and *big* are the two models of *Attention Is All "
            "You Need*, with its vocabulary of about 37,000 pieces. Point at a segment for its exact number."
        )
    else:
        other_model.show(selection)
    every_tab: list[frame.Tab[ModelCardTab]] = [
        ("Vocabulary", tabs.vocabulary),
        ("Training data", tabs.training_data),
        ("Curves", tabs.curves),
        ("Scores", tabs.scores),
        ("Translations", tabs.translations),
        ("Card", tabs.whole_card),
    ]
    model = selection.model
    names = None if models.is_english_german(model) else other_model.TABS[models.kind(model)]
    offered = [tab for tab in every_tab if names is None or tab[0] in names]
    if offered:
        frame.tabs("model_card_tab", offered, selection)
