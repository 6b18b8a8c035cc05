"""One head, opened: as a heatmap, or as lines together with others. Knows nothing of how its numbers are computed."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz import choices, controls, derived, frame, state
from viz.components.head_lines import LinesData, LinesPlace, head_lines
from viz.export.names import file_name, head_name
from viz.figures.heads import head_heatmap, head_labels
from viz.measures import MEASURES, Measure

if TYPE_CHECKING:
    from model import Trace

HOW_TO_READ: Final = {
    "Heatmap": "Rows are queries, columns are keys; the lighter, the more. Drag to zoom, double-click to go back.",
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


def show(trace: "Trace", site: str) -> None:
    """The chosen head of a site, or several, by the measure that is chosen."""
    measure = MEASURES[state.current().measure]
    with st.container(horizontal=True):
        layer = controls.layer(trace.num_layers)
        controls.head(trace.num_heads, disabled=not measure.is_per_head)
    selection = state.current()
    opened = derived.opened_layer(trace, site, layer, selection)
    st.caption(_caption(measure, site, selection))
    if not opened.queries.groups or not opened.keys.groups:
        st.info("Nothing but special tokens stands here: show them to see something.", icon=":material/info:")
        return
    # One scale for all heads of the layer, so that they compare.
    top = 1.0 if measure.is_share else float(opened.values.max()) or 1.0
    draw = _heatmap if selection.drawn == "Heatmap" else _lines
    draw(opened, site, measure, top)
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


def _heatmap(opened: derived.OpenedLayer, site: str, measure: Measure, top: float) -> None:
    selection = state.current()
    head = selection.head if measure.is_per_head else 0
    name = f"Head {head + 1}" if measure.is_per_head else "All heads"
    title = f"Layer {selection.layer + 1} · {name}"
    place = head_name(site, selection.layer, head) if measure.is_per_head else f"{site} layer{selection.layer}"
    name_of_file = file_name(place, selection.measure, sentence=selection.text)
    st.plotly_chart(
        head_heatmap(
            opened.values[head],
            opened.queries.labels,
            opened.keys.labels,
            title=title,
            number=measure.number,
            top=top,
            note="" if measure.is_share else "no upper bound",
            marked=_kept(opened, selection),
        ),
        key="open-head",
        config=frame.chart_config(name_of_file),
        alt=f"{controls.SITE_LABELS[site]}, {title}: {measure.label.lower()} as a heatmap",
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
    place = LinesPlace(tuple(sorted(on)), query=_kept(opened, selection), threshold=min(100, selection.threshold))
    head_lines(data, place, on_change=lambda place: _take(place, opened, measure), key="open-lines")


def _kept(opened: derived.OpenedLayer, selection: choices.Selection) -> int | None:
    return None if selection.token is None else opened.queries.place_of(selection.token)


def _take(place: LinesPlace, opened: derived.OpenedLayer, measure: Measure) -> None:
    """What a person did to the lines becomes the selection; the open head stays as long as it is on."""
    before = state.current()
    token = before.token if place.query == _kept(opened, before) else None
    if token is None and place.query is not None:
        token = opened.queries.groups[place.query][0]
    after = replace(before, token=token, threshold=place.threshold)
    if measure.is_per_head:
        head = before.head if before.head in place.heads else place.heads[0]
        after = replace(after, head=head, also=tuple(other for other in place.heads if other != head))
    state.put(after)
