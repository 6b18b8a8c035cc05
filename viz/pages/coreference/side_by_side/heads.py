"""Show where every head looks from two pronouns: all heads as a map, one layer's rows, and their difference."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import models
from viz.core.file_names import file_name
from viz.core.numbers import signed
from viz.core.token_text import display_token
from viz.figures.comparison import align, difference_heatmap, row_difference
from viz.figures.heads import head_labels, head_rows
from viz.pages.coreference.marked_sentence import ROLES
from viz.pages.coreference.pair_controls import NAMES
from viz.pages.coreference.side_by_side import data, tables
from viz.pages.coreference.side_by_side.data import Positions, Row
from viz.pages.coreference.side_by_side.figures import mark_columns, movement_map
from viz.selection import state
from viz.ui import controls, frame, measures, number_controls, token_labels
from viz.ui.controls import plain
from viz.ui.measures import MEASURES, Measure

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.coreference.cases import PronounCase

TOKEN_FIELDS: Final = ("token", "other_token")
_MAP: Final = "movement"


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two sentences: its trace, its marked words if all are marked, and the rows that are looked at."""

    number: int
    trace: "Trace"
    case: "PronounCase | None"
    rows: Positions = ()


def show_heads(sides: Sequence[Side]) -> None:
    """The choice of an attention and of the rows, the map of all heads, and the rows of one layer."""
    first = sides[0].trace
    state.put(state.current().for_model(first.shapes))
    st.subheader("Every head", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        site = controls.site(first.sites)
        controls.measure(measures.offered(models.abilities(state.current().model)))
    with st.grid(2, min_column_width=430, gap="medium"):
        looking = [_looking(side, site) for side in sides]
    _show_map(looking, site)
    _show_rows(looking, site)


def _looking(side: Side, site: str) -> Side:
    """The same side with the rows that a person looks from: those of the pronoun, unless another is chosen."""
    reader, field = models.reader(state.current().model), TOKEN_FIELDS[side.number]
    own = None if side.case is None else data.pronoun_rows(side.trace, reader, side.case, site)
    # Its last piece: in some vocabularies the first is a bare “▁”.
    start = own[-1] if isinstance(own, tuple) else token_labels.default_row(side.trace, site)
    with st.container():
        labels = token_labels.row_labels(side.trace, site)
        row = controls.token(field, f"{NAMES[side.number].capitalize()} sentence: look from", labels, default=start)
        if isinstance(own, str):
            st.caption(f"No row is known to be the pronoun’s: {plain(own)}. Choose the one that you take for it.")
    return replace(side, rows=own if isinstance(own, tuple) and row in own else (row,))


def _show_map(sides: Sequence[Side], site: str) -> None:
    common, reader = state.current().common, models.reader(state.current().model)
    weights = []
    for side in sides:
        if side.case is None:
            return
        of_side = data.candidate_weights(side.trace, reader, side.case, site, side.rows, common.measure)
        if isinstance(of_side, str):
            frame.note(f"There is no map of this attention: {of_side}.")
            return
        weights.append(of_side)
    values, parts = data.movement(*weights), np.stack(weights, axis=2)
    measure = MEASURES[common.measure]
    name = file_name(f"movement {site} {common.measure}", sentence=sides[0].trace.text)
    opened = (common.layer, common.head if measure.is_per_head else 0)
    names = _names(measure, values.shape[1])
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        st.plotly_chart(
            movement_map(values, parts, number=measure.number, names=names, opened=opened),
            key=_MAP,
            on_select=_open_cell,
            selection_mode="points",
            config=frame.chart_config(name),
            alt="How far each head of each layer moves toward the right antecedent",
            width=620,
        )
        with st.container(width="stretch"):
            _explain_map(values, parts, measure, opened)
            number_controls.table_button("Map (CSV)", partial(tables.movements, values, parts), name)


def _explain_map(
    values: Float[np.ndarray, "layer head"],
    parts: Float[np.ndarray, "layer head sentence candidate"],
    measure: Measure,
    opened: tuple[int, int],
) -> None:
    farthest = divmod(int(values.argmax()), values.shape[1])
    first, second = parts[opened]
    st.caption(
        f"How far each head moves toward the right antecedent: its {measure.number} on the antecedent minus "
        "that on the distractor, in the first sentence plus in the second. Warm: it follows the meaning. Cold: it goes "
        "against it. Near 0: it looks the same way in both, or at neither"
        + ("; 2 is the most." if measure.is_share else ".")
        + " Click a cell to open its head."
    )
    st.markdown(
        f"**{_named(measure, *opened)}** moves **{signed(values[opened], 3)}**: "
        f"{signed(first[0] - first[1], 3)} in the first sentence ({first[0]:.3f} − {first[1]:.3f}), "
        f"{signed(second[0] - second[1], 3)} in the second ({second[0]:.3f} − {second[1]:.3f})."
    )
    st.caption(
        f"Farthest: {_named(measure, *farthest).lower()}, {signed(values.max(), 3)}. The best of "
        f"{values.size} on one pair proves nothing: the tab “Measured” counts over a set."
    )


def _names(measure: Measure, count: int) -> list[str]:
    return head_labels(count) if measure.is_per_head else ["All heads"]


def _named(measure: Measure, layer: int, head: int) -> str:
    return f"Layer {layer + 1}, " + (f"head {head + 1}" if measure.is_per_head else "all heads")


def _open_cell() -> None:
    """Open the head of a cell that was clicked. What the browser says is checked; a click elsewhere does nothing."""
    match st.session_state[_MAP]["selection"]["points"]:
        case [{"customdata": [int(layer), int(head), *_]}, *_] if layer >= 0 and head >= 0:
            state.change(layer=layer, head=head)


def _show_rows(sides: Sequence[Side], site: str) -> None:
    first, measure = sides[0].trace, MEASURES[state.current().common.measure]
    st.subheader("One layer, from these rows", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = controls.layer(first.layers_of(site))
        head = controls.head(first.heads_of(site), disabled=not measure.is_per_head)
        words = controls.switch("whole_words", "Whole words", "To a word of several pieces, its pieces are summed.")
    reader, common = models.reader(state.current().model), state.current().common
    read, whole = common.measure, common.whole_words
    rows = [
        data.opened_row(s.trace, reader, s.case, site, layer, s.rows, measure=read, whole_words=whole) for s in sides
    ]
    top = 1.0 if measure.is_share else max(float(row.values.max(initial=0.0)) for row in rows) or 1.0
    names, marked = _names(measure, len(rows[0].values)), head if measure.is_per_head else None
    with st.grid(2, min_column_width=430, gap="medium"):
        for side, row in zip(sides, rows, strict=True):
            figure = head_rows(row.values, row.labels, number=measure.number, top=top, names=names, marked=marked)
            for role, columns in row.marked.items():
                mark_columns(figure, columns, rows=len(row.values), colour=ROLES[role].colour, dash=ROLES[role].dash)
            name = file_name(f"{site} layer{layer} row{side.rows[0]} {common.measure}", sentence=side.trace.text)
            alt = f"{NAMES[side.number].capitalize()} sentence: {measure.label.lower()} from the chosen token"
            alt += f", one row a head, layer {layer + 1}"
            frame.chart(figure, f"rows-{TOKEN_FIELDS[side.number]}", name, alt)
    sentences = ["Each row is one head and shows where it looks from the token chosen above; the open head is framed."]
    if any(row.marked for row in rows):
        sentences.append("Frames around columns: antecedent (solid), distractor (dashed), pronoun (dotted).")
    if any(len(side.rows) > 1 for side in sides):
        sentences.append("The pronoun has several pieces; its rows are averaged.")
    if words:
        sentences.append("To a word of several pieces, its pieces are summed.")
    st.caption(" ".join(sentences))
    shown = f"{site} layer{layer} {common.measure}"
    name = file_name(f"rows {shown}", sentence=first.text)
    number_controls.table_button("Rows (CSV)", partial(tables.pair_rows, layer, rows), name)
    _show_difference(rows, names, file_name(f"difference {shown}", sentence=first.text))


def _show_difference(rows: Sequence[Row], heads: Sequence[str], name: str) -> None:
    st.subheader("Difference", anchor=False)
    keys = [row.labels for row in rows]
    alignment = align(*keys)
    if alignment.first:
        shared = [keys[0][position] for position in alignment.first]
        figure = difference_heatmap(row_difference(rows[0].values, rows[1].values, alignment), shared, heads)
        alt = "Second minus first, one row a head, for the tokens that both sentences have"
        frame.chart(figure, "difference", name, alt)
    st.caption(
        "Warm where the second sentence gives a token more, cold where the first does. Only tokens that stand in both, "
        "in the same order, are compared, so a row need not add up to zero. These stand in one sentence only:"
    )
    only = (("first", keys[0], alignment.only_first), ("second", keys[1], alignment.only_second))
    named = (f"{name}: {'  '.join(display_token(tokens[i]) for i in left) or 'none'}" for name, tokens, left in only)
    st.text("    ".join(named))
