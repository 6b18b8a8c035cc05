"""Show where every head looks from two pronouns: all heads as a map, one layer's rows, and their difference."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.access import models
from viz.pages.coreference.marked_sentence import ROLES
from viz.pages.coreference.side_by_side import data, movement, tables
from viz.pages.coreference.side_by_side.data import Row, Side
from viz.pages.coreference.side_by_side.figures import mark_columns
from viz.pictures.figures.comparison import align, difference_heatmap, row_difference
from viz.pictures.figures.heads import head_rows
from viz.selection import state
from viz.text.messages import _, in_a_row, said
from viz.text.sites import file_name
from viz.text.token_text import display_token
from viz.ui import controls, frame, head_jobs, measures, number_controls, token_labels
from viz.ui.controls import plain
from viz.ui.measures import MEASURES

TOKEN_FIELDS: Final = ("token", "other_token")
#: Of the first and of the second sentence: the label of the choice of a row, what a picture shows, what it has alone.
_LOOK_FROM: Final = (said("First sentence: look from"), said("Second sentence: look from"))
_ROWS_OF: Final = (
    said("First sentence: {measure} from the chosen token, one row a head, layer {layer}"),
    said("Second sentence: {measure} from the chosen token, one row a head, layer {layer}"),
)
_ONLY_IN: Final = (said("first: {tokens}"), said("second: {tokens}"))


@dataclass(frozen=True, slots=True)
class Slots:
    """Where the map of all heads stands, what was found in it, and the choice of what it shows."""

    picture: DeltaGenerator
    found: DeltaGenerator
    choice: DeltaGenerator


def show_all(sides: Sequence[Side], slots: Slots) -> tuple[list[Side], str]:
    """The map of all heads, and the rows that it looks from; these are returned, with the attention that is chosen."""
    first, reader = sides[0].trace, models.reader(state.current().model)
    with slots.choice:
        before = st.container(width="content")
        controls.measure(measures.offered(models.abilities(state.current().model)))
    moved = data.movements(sides, reader, state.current().common.measure)
    if (found := movement.farthest(moved)) is not None:
        state.propose(**dict(zip(("site", "layer", "head"), found, strict=True)))
    state.put(state.current().for_model(first.shapes))
    with slots.found:
        movement.say_farthest(moved)
    with before:
        site = controls.site(first.sites)
    with st.grid(2, min_column_width=430, gap="medium"):
        looking = [_looking(side, site) for side in sides]
    if all(side.case is not None for side in sides):
        with slots.picture:
            movement.show(looking, site, movement.bound(moved), slots.choice)
    return looking, site


def _looking(side: Side, site: str) -> Side:
    """The same side with the rows that a person looks from: those of the pronoun, unless another is chosen."""
    reader, field = models.reader(state.current().model), TOKEN_FIELDS[side.number]
    own = None if side.case is None else data.pronoun_rows(side.trace, reader, side.case, site)
    # Its last piece: in some vocabularies the first is a bare “▁”.
    start = own[-1] if isinstance(own, tuple) else token_labels.default_row(side.trace, site)
    with st.container():
        labels = token_labels.row_labels(side.trace, site)
        row = controls.token(field, _(_LOOK_FROM[side.number]), labels, default=start)
        if isinstance(own, str):
            st.caption(
                _(
                    "No row is known to be the pronoun’s: {reason}. Choose the one that you take for it.",
                    reason=plain(own),
                )
            )
    return replace(side, rows=own if isinstance(own, tuple) and row in own else (row,))


def show_rows(sides: Sequence[Side], site: str) -> None:
    """Where every head of a layer looks from these rows in both sentences, and how that differs."""
    first, measure = sides[0].trace, MEASURES[state.current().common.measure]
    st.subheader(_("One layer, from these rows"), anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = controls.layer(first.layers_of(site))
        head = controls.head(first.heads_of(site), disabled=not measure.is_per_head)
        words = controls.switch(
            "whole_words", _("Whole words"), _("To a word of several pieces, its pieces are summed.")
        )
    reader, common = models.reader(state.current().model), state.current().common
    read, whole = common.measure, common.whole_words
    rows = [
        data.opened_row(s.trace, reader, s.case, site, layer, s.rows, measure=read, whole_words=whole) for s in sides
    ]
    top = 1.0 if measure.is_share else max(float(row.values.max(initial=0.0)) for row in rows) or 1.0
    marked = head if measure.is_per_head else None
    names = [
        head_jobs.row_name(site, layer, each if measure.is_per_head else None) for each in range(len(rows[0].values))
    ]
    with st.grid(2, min_column_width=430, gap="medium"):
        for side, row in zip(sides, rows, strict=True):
            figure = head_rows(row.values, row.labels, number=measure.number, top=top, names=names, marked=marked)
            for role, columns in row.marked.items():
                mark_columns(figure, columns, rows=len(row.values), colour=ROLES[role].colour, dash=ROLES[role].dash)
            name = file_name(f"{site} layer{layer} row{side.rows[0]} {common.measure}", sentence=side.trace.text)
            alt = _(_ROWS_OF[side.number], measure=_(measure.label).lower(), layer=layer + 1)
            frame.chart(figure, f"rows-{TOKEN_FIELDS[side.number]}", name, alt)
    sentences = [
        _("Each row is one head and shows where it looks from the token chosen above; the open head is framed.")
    ]
    if any(row.marked for row in rows):
        sentences.append(_("Frames around columns: antecedent (solid), distractor (dashed), pronoun (dotted)."))
    if any(len(side.rows) > 1 for side in sides):
        sentences.append(_("The pronoun has several pieces; its rows are averaged."))
    if words:
        sentences.append(_("To a word of several pieces, its pieces are summed."))
    st.caption(in_a_row(sentences))
    shown = f"{site} layer{layer} {common.measure}"
    name = file_name(f"rows {shown}", sentence=first.text)
    number_controls.table_button(_("Rows (CSV)"), partial(tables.pair_rows, layer, rows), name)
    _show_difference(rows, names, top, file_name(f"difference {shown}", sentence=first.text))


def _show_difference(rows: Sequence[Row], heads: Sequence[str], bound: float, name: str) -> None:
    st.subheader(_("Difference"), anchor=False)
    keys = [row.labels for row in rows]
    alignment = align(*keys)
    if alignment.first:
        difference = row_difference(rows[0].values, rows[1].values, alignment)
        shared = [keys[0][position] for position in alignment.first]
        figure = difference_heatmap(difference, shared, heads, bound=bound)
        alt = _("Second minus first, one row a head, for the tokens that both sentences have")
        frame.chart(figure, "difference", name, alt)
    st.caption(
        _(
            "Warm where the second sentence gives a token more, cold where the first does. Only tokens that stand in "
            "both, in the same order, are compared, so a row need not add up to zero. These stand in one sentence "
            "only:"
        )
    )
    named = [
        _(only_in, tokens="  ".join(display_token(tokens[i]) for i in left) or said("none"))
        for only_in, tokens, left in zip(_ONLY_IN, keys, (alignment.only_first, alignment.only_second), strict=True)
    ]
    st.text("    ".join(named))
