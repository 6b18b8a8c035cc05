"""What a model from elsewhere is made of, and what cannot be shown of it."""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from viz.access import models
from viz.core.html import Column, table
from viz.pages.model_card import data, facts
from viz.selection.model_card import ModelCardTab
from viz.selection.selection import Selection
from viz.ui.controls import plain

_WITH_TEXT: Final[tuple[ModelCardTab, ...]] = ("Architecture", "Vocabulary", "Card")
#: Kind of model → the tabs of the model page: such a model brings no record of its training.
TABS: Final[Mapping[str | None, tuple[ModelCardTab, ...]]] = {
    "encoder": _WITH_TEXT,
    "decoder": _WITH_TEXT,
    "encoder-decoder": _WITH_TEXT,
    "image": ("Architecture", "Card"),
    None: ("Architecture",),
}


def show(selection: Selection) -> None:
    """The model in a table, its parameters by part, its settings, and a sentence for everything that it lacks."""
    described = data.description(models.reader(selection.model))
    name = models.name_of(selection.model)
    with st.grid(2, min_column_width=330, gap="medium"):
        with st.container():
            st.html(table([Column("Model"), Column(name)], described.rows, label=f"What {name} is made of"))
        with st.container():
            total = sum(described.parts.values())
            rows = [(part, facts.number(count), f"{count / total:.1%}") for part, count in described.parts.items()]
            columns = [Column("Part"), Column("Parameters", is_number=True), Column("Share", is_number=True)]
            st.html(table(columns, [*rows, ("Together", facts.number(total), "100.0%")], label="Parameters by part"))
            st.caption("What stands in two places, such as an embedding that is also the output, is counted once.")
    if described.settings:
        with st.expander(f"config.json: {len(described.settings)} settings unlike the usual ones", key="card-settings"):
            st.html(table([Column("Setting"), Column("Value")], described.settings, label="Settings of config.json"))
    if described.lacks:
        st.subheader("What cannot be shown of it", anchor=False)
        st.markdown("\n".join(f"- {plain(why[0].upper() + why[1:])}" for why in described.lacks))
