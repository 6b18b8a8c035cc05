"""One head, opened: as a heatmap, or as lines together with others. Knows nothing of how its numbers are computed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz import choices, controls, derived, state
from viz.components.head_lines import LinesData, LinesPlace, head_lines
from viz.components.matrix_picture import ColourScale, Kept, MatrixData, Preview, matrix_picture
from viz.export.names import file_name, head_name
from viz.figures.heads import head_labels
from viz.measures import MEASURES, Measure

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.axes import Axis

HOW_TO_READ: Final = {
    "Heatmap": (
        "Rows are queries, columns are keys; the lighter, the more. Click a cell to keep its query and key. Drag to "
        "zoom, then drag to move; double-click to see the whole again."
    ),
    "Lines": (
        "A line leads from a query, left, to a key, right; the stronger, the more. Point at a token to see its lines "
        "alone, with a box a head beside the tokens they lead to; click it to keep that."
    ),
}


def settings() -> None:
    """How the open head is drawn, what its numbers are, and between what."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.drawn()
        controls.measure()
    with st.container(horizontal=True, gap="medium"):
        controls.switch("words", "Whole words", "Joins the pieces of a word.")
        controls.switch("special", "Special tokens", "Shows <s> and </s>, where heads often rest.")


def show(trace: "Trace", site: str, addresses: Mapping[str, str]) -> None:
    """The chosen head of a site, or several, by the measure that is chosen.

    Args:
        trace: the run that is shown.
        site: the attention that is open.
        addresses: of the tiles of each attention, from which the browser may draw a head at once.
    """
    measure = MEASURES[state.current().measure]
    with st.container(horizontal=True):
        layer = controls.layer(trace.layers_of(site))
        controls.head(trace.heads_of(site), disabled=not measure.is_per_head)
    selection = state.current()
    opened = derived.opened_layer(trace, site, layer, selection)
    st.caption(_caption(measure, site, selection))
    if not opened.queries.groups or not opened.keys.groups:
        st.info("Nothing but special tokens stands here: show them to see something.", icon=":material/info:")
        return
    # One scale for all heads of the layer, so that they compare.
    top = 1.0 if measure.is_share else float(opened.values.max()) or 1.0
    if selection.drawn == "Heatmap":
        # Tiles hold weights between single tokens, and all of them.
        is_tiled = selection.measure == "weights" and selection.special and not selection.words
        _heatmap(opened, site, measure, top, addresses if is_tiled else {})
    else:
        _lines(opened, site, measure, top)
    st.caption(HOW_TO_READ[selection.drawn])


def _caption(measure: Measure, site: str, selection: choices.Selection) -> str:
    meaning, formula = measure.explained_at(site)
    sentences = [meaning, f"${formula}$"]
    if selection.words:
        sentences.append("Of a word's pieces, keys are summed and queries averaged.")
    if not selection.special and measure.is_share:
        sentences.append("Special tokens are hidden, so rows do not sum to 1.")
    elif not selection.special:
        sentences.append("Special tokens are hidden.")
    if not measure.is_per_head:
        sentences.append("All heads are one here, so there is no head to choose.")
    return "  \n".join(sentences)


def _heatmap(
    opened: derived.OpenedLayer, site: str, measure: Measure, top: float, addresses: Mapping[str, str]
) -> None:
    selection = state.current()
    head = selection.head if measure.is_per_head else 0
    name = f"Head {head + 1}" if measure.is_per_head else "All heads"
    place = head_name(site, selection.layer, head) if measure.is_per_head else f"{site} layer{selection.layer}"
    data = MatrixData(
        values=opened.values[head],
        row_tokens=opened.queries.labels,
        column_tokens=opened.keys.labels,
        scale=ColourScale.root(measure.number, top),
        title=f"Layer {selection.layer + 1} · {name}",
        label=f"{controls.SITE_LABELS[site]}, {measure.label.lower()} of one head as a heatmap.",
        note="" if measure.is_share else "no upper bound",
        file_name=file_name(place, selection.measure, sentence=selection.text),
    )
    matrix_picture(
        data,
        Kept(*_kept(opened, selection)),
        on_keep=lambda kept: _keep(kept.row, kept.column, opened),
        key="open-head",
        preview=Preview((addresses[site], selection.layer, head), tuple(addresses.values())) if addresses else None,
    )


def _lines(opened: derived.OpenedLayer, site: str, measure: Measure, top: float) -> None:
    selection = state.current()
    count = len(opened.values)
    on = {head for head in (selection.head, *selection.also) if head < count} if measure.is_per_head else {0}
    data = LinesData(
        values=opened.values,
        top=top,
        query_tokens=opened.queries.labels,
        key_tokens=opened.keys.labels,
        head_names=tuple(head_labels(count)) if measure.is_per_head else ("All heads",),
        number=measure.number,
        title=f"{controls.SITE_LABELS[site]} · Layer {selection.layer + 1}",
        file_name=file_name(f"{site} layer{selection.layer}", selection.measure, sentence=selection.text),
    )
    query, key = _kept(opened, selection)
    # A person who has kept both sees the lines of the query; the key is not forgotten.
    place = LinesPlace(tuple(sorted(on)), query, None if query is not None else key, min(100, selection.threshold))
    head_lines(data, place, on_change=lambda place: _take(place, opened, measure), key="open-lines")


def _kept(opened: derived.OpenedLayer, selection: choices.Selection) -> tuple[int | None, int | None]:
    """The row and the column of the kept query and key; None for one that is not kept or not shown."""
    query, key = selection.token, selection.key_token
    return (
        None if query is None else opened.queries.place_of(query),
        None if key is None else opened.keys.place_of(key),
    )


def _keep(row: int | None, column: int | None, opened: derived.OpenedLayer) -> None:
    """Keep this row and column; of a word, the token that was kept in it, or else its first."""
    query, key = _kept(opened, state.current())
    before = state.current()
    state.change(
        token=_token(row, opened.queries, before.token if row == query else None),
        key_token=_token(column, opened.keys, before.key_token if column == key else None),
    )


def _token(place: int | None, axis: "Axis", kept: int | None) -> int | None:
    return axis.groups[place][0] if kept is None and place is not None else kept


def _take(place: LinesPlace, opened: derived.OpenedLayer, measure: Measure) -> None:
    """What a person did to the lines becomes the selection; the open head stays as long as it is on."""
    _, key = _kept(opened, state.current())
    # Lines keep one token only: a key stays kept behind a query.
    _keep(place.query, place.key if place.query is None else key, opened)
    before = state.current()
    after = replace(before, threshold=place.threshold)
    if measure.is_per_head:
        head = before.head if before.head in place.heads else place.heads[0]
        after = replace(after, head=head, also=tuple(other for other in place.heads if other != head))
    state.put(after)
