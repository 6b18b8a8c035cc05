"""What the chosen model is made of: its sizes beside those of the paper's models, and its parameters by part."""

import streamlit as st

from viz.access import models
from viz.pages.model_card import data, facts, other_model
from viz.pages.model_card.figures import parameter_bars
from viz.selection.selection import Selection
from viz.text.html import table
from viz.text.messages import _
from viz.text.sites import file_name
from viz.ui import frame


def show(selection: Selection) -> None:
    """A table and bars beside it; of a model from elsewhere two tables."""
    if not models.abilities(selection.model).is_headlight:
        other_model.show(selection)
        return
    shapes = data.shapes(selection.model)
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            st.html(table(*facts.configuration(shapes), label=_("Configuration, beside the paper's base and big")))
        with st.container():
            frame.chart(
                parameter_bars([name for name, _, _ in shapes], [counts for _, _, counts in shapes]),
                "parameters",
                file_name("parameters", shapes[0][0]),
                _("Parameters by part, one stacked bar a model: in millions, and as shares of the model"),
            )
    st.caption(
        _(
            "One bar is a model, one colour a part of it. Above, how many parameters each part has; below, the same "
            "as shares, so that a small model can be read too. *base* and *big* are the two models of *Attention Is "
            "All You Need*, with its vocabulary of about 37,000 pieces. Point at a segment for its exact number."
        )
    )
