"""The Transformer, of the page that teaches: the paper's figure 1 of the chosen model, and a translation through it."""

from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models
from viz.pages.learn.architecture import data, words
from viz.pages.learn.architecture.component import MapState, Opened, architecture_player
from viz.selection import state
from viz.text.messages import _
from viz.text.sites import DECODER, ENCODER, file_name
from viz.ui import frame, sentence, tools
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace

KEY: Final = "architecture"


def show(head: "DeltaGenerator") -> None:
    """The sentence, and the map with its film."""
    with frame.loading():
        abilities = models.abilities(state.current().model)
    if "self-attention" in abilities.lacks:
        why = abilities.lacks["self-attention"]
        frame.note(
            plain(
                _(
                    "The map shows a Transformer, and this model ({family}) is not one. {why}",
                    family=abilities.family,
                    why=why,
                )
            )
        )
        return
    trace = sentence.read_and_show(state.current().common.text, head)
    _map(trace)


@frame.fragment
def _map(trace: "Trace") -> None:
    shape = data.shape_in(trace, models.reader(state.current().model))
    asked = MapState(state.current().learn.map_step)
    name = file_name("transformer", sentence=trace.text)
    shown = architecture_player(shape, trace, asked, on_open=_open, key=KEY, name=name)
    if shown is not None and shown.step != asked.step:
        state.change(map_step=shown.step)
    for caution in _cautions(shape, trace):
        st.caption(caution)


def _open(opened: Opened) -> None:
    """Go where the box leads, with the current sentence."""
    lead = words.lead(opened.box, opened.layer, opened.row)
    state.choose(**lead.choices)
    tools.open_page(lead.page)


def _cautions(shape: data.Shape, trace: "Trace") -> list[str]:
    """What the map does not know of a model, or what the model has not."""
    found = []
    if not shape.norm:
        found.append(
            _("This model's settings do not say where its norms stand: before its sub-layers or, as drawn, after them.")
        )
    if shape.is_parallel:
        found.append(
            _("In this model attention and feed-forward stand side by side: both read what comes into the layer.")
        )
    if not shape.has_positions and shape.positions != "none":
        found.append(
            _(
                "Positions: {scheme}. They act within attention, so no vector is added at the bottom.",
                scheme=_(words.POSITIONS[shape.positions]),
            )
        )
    if shape.positions == "none":
        found.append(_("This model adds no positions."))
    if not shape.has_residual:
        found.append(_("This model was trained without residual connections: nothing goes past a sub-layer."))
    if DECODER not in trace.sites:
        found.append(_("This model only reads: it has no decoder, and no token is written."))
    elif ENCODER not in trace.sites:
        found.append(_("This model is a decoder alone: it has no source, and so no cross-attention."))
    return found
