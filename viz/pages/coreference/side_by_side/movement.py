"""Show how far every head moves toward the right antecedent, as a map, and which of all moves farthest."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.access import models
from viz.pages.coreference.side_by_side import data, tables
from viz.pages.coreference.side_by_side.data import Movement, Side
from viz.pages.coreference.side_by_side.figures import movement_map
from viz.selection import state
from viz.server.widgets import sent
from viz.text.messages import _, said
from viz.text.numbers import signed
from viz.text.sites import file_name, head_label
from viz.ui import frame, head_jobs, number_controls
from viz.ui.measures import MEASURES

_MAP: Final = "movement"
#: Of shares a head moves at most so far: from one candidate altogether to the other, in both sentences.
MOST: Final = 2.0
#: Other movements that are smaller than this everywhere are drawn as the small ones they are.
FLOOR: Final = 0.1
#: Whether heads move and not layers, and whether by shares → what is said of the one that moves farthest.
_FARTHEST: Final = {
    (True, True): said("**{head} moves farthest of {count} heads: {value}** of {most:g} at most."),
    (True, False): said("**{head} moves farthest of {count} heads: {value}**."),
    (False, True): said("**{head} moves farthest of {count} layers: {value}** of {most:g} at most."),
    (False, False): said("**{head} moves farthest of {count} layers: {value}**."),
}


def farthest(moved: Mapping[str, Movement]) -> tuple[str, int, int] | None:
    """Attention, layer and head of what moves farthest of all; None where nothing can be said."""
    if not moved:
        return None
    site = max(moved, key=lambda name: float(moved[name].values.max()))
    return site, *moved[site].farthest


def say_farthest(moved: Mapping[str, Movement]) -> None:
    """Which head of all attentions moves farthest, and a button that opens it where another one is open."""
    found, common = farthest(moved), state.current().common
    if found is None:
        return
    site, layer, head = found
    measure = MEASURES[common.measure]
    name = head_jobs.title(site, layer, head if measure.is_per_head else None, with_site=True)
    count = sum(of.values.size for of in moved.values())
    with st.container(horizontal=True, vertical_alignment="center"):
        found_text = _FARTHEST[measure.is_per_head, measure.is_share]
        value = signed(float(moved[site].values.max()), 2)
        st.markdown(_(found_text, head=name, count=count, value=value, most=MOST), width="content")
        opened = common.site, common.layer, common.head if measure.is_per_head else 0
        if opened != found:
            chosen = {"site": site, "layer": layer, "head": head}
            st.button(_("Open it"), key="open-farthest", on_click=state.choose, kwargs=chosen)


def bound(moved: Mapping[str, Movement]) -> float:
    """How far the colours of every map reach, the same for all attentions."""
    if MEASURES[state.current().common.measure].is_share:
        return MOST
    return max([FLOOR, *(float(np.abs(of.values).max()) for of in moved.values())])


def show(sides: Sequence[Side], site: str, most: float, below: DeltaGenerator) -> None:
    """The map of an attention, from the rows of both sides, what it says of the open head, and `below` it its file."""
    common, reader = state.current().common, models.reader(state.current().model)
    moved = data.movement(sides, reader, site, common.measure)
    if isinstance(moved, str):
        frame.note(_("There is no map of this attention: {reason}.", reason=moved))
        return
    measure = MEASURES[common.measure]
    name = file_name(f"movement {site} {common.measure}", sentence=sides[0].trace.text)
    opened = (common.layer, common.head if measure.is_per_head else 0)
    averaged = not measure.is_per_head
    layers, heads = moved.values.shape
    names = (
        [head_label(layer, None) for layer in range(layers)] if averaged else head_jobs.titles(site, (layers, heads))
    )
    figure = movement_map(
        moved.values, moved.parts, names, number=measure.number, averaged=averaged, opened=opened, bound=most
    )
    st.plotly_chart(
        figure,
        key=_MAP,
        on_select=_open_cell,
        selection_mode="points",
        config=frame.chart_config(name),
        alt=_("How far each head of each layer moves toward the right antecedent"),
    )
    _explain(moved, names, opened)
    st.caption(
        _(
            "How far each head moves toward the right antecedent. Warm: it follows the meaning. Cold: it goes "
            "against it. Click a cell to open its head."
        ),
        help=_(
            "Its {number} on the antecedent minus that on the distractor, in the first sentence plus in the "
            "second. Near 0: it looks the same way in both, or at neither. One scale for all attentions. The "
            "best on one pair proves nothing: “Measured” counts over a set, “Cause” switches it off.",
            number=measure.number,
        ),
    )
    with below:
        number_controls.table_button(_("Map (CSV)"), partial(tables.movements, moved.values, moved.parts), name)


def _explain(moved: Movement, names: Sequence[str], opened: tuple[int, int]) -> None:
    first, second = moved.parts[opened]
    st.markdown(
        _(
            "**{head}** moves **{movement}**: {first} in the first sentence ({first_antecedent:.3f} − "
            "{first_distractor:.3f}), {second} in the second ({second_antecedent:.3f} − {second_distractor:.3f}).",
            head=names[opened[0] * moved.values.shape[1] + opened[1]],
            movement=signed(moved.values[opened], 3),
            first=signed(first[0] - first[1], 3),
            first_antecedent=first[0],
            first_distractor=first[1],
            second=signed(second[0] - second[1], 3),
            second_antecedent=second[0],
            second_distractor=second[1],
        )
    )


def _open_cell() -> None:
    """Open the head of a cell that was clicked. What the browser says is checked; a click elsewhere does nothing."""
    match sent(_MAP, "selection", "points"):
        case [{"customdata": [int(layer), int(head), *_]}, *_] if layer >= 0 and head >= 0:
            state.change(layer=layer, head=head)
