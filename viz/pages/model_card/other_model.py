"""What a model from elsewhere is made of, and what cannot be shown of it."""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from viz.access import models
from viz.pages.model_card import data, facts
from viz.selection.model_card import ModelCardTab
from viz.selection.selection import Selection
from viz.text.html import Column, table
from viz.text.messages import _, plural, shown
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
            st.html(
                table([Column(_("Model")), Column(name)], described.rows, label=_("What {name} is made of", name=name))
            )
        with st.container():
            total = sum(described.parts.values())
            rows = [(part, facts.number(count), f"{count / total:.1%}") for part, count in described.parts.items()]
            rows.append((_("Together"), facts.number(total), "100.0%"))
            columns = [Column(_("Part")), Column(_("Parameters"), is_number=True), Column(_("Share"), is_number=True)]
            st.html(table(columns, rows, label=_("Parameters by part")))
            st.caption(_("What stands in two places, such as an embedding that is also the output, is counted once."))
    if described.settings:
        with st.expander(
            plural(
                "config.json: {count} setting unlike the usual one",
                "config.json: {count} settings unlike the usual ones",
                len(described.settings),
            ),
            key="card-settings",
        ):
            st.html(
                table(
                    [Column(_("Setting")), Column(_("Value"))], described.settings, label=_("Settings of config.json")
                )
            )
    if described.lacks:
        st.subheader(_("What cannot be shown of it"), anchor=False)
        st.markdown("\n".join(f"- {plain(why[0].upper() + why[1:])}" for why in map(shown, described.lacks)))
