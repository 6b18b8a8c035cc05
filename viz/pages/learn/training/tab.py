"""Training, of the page that teaches: what a model is trained towards, how fast, and what it reads meanwhile."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages.learn.training import forcing, schedule, smoothing
from viz.selection import state
from viz.text.messages import _
from viz.ui import controls, frame, sentence

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace

VIEWS = ("Label smoothing", "Warm-up", "Teacher forcing")


def show(head: "DeltaGenerator") -> None:
    """One of the three, chosen above it."""
    with frame.errors_shown():
        trace = sentence.read_and_show(state.current().common.text, head)
        _show(trace)


@frame.fragment
def _show(trace: "Trace") -> None:
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        view = controls.segmented("training_view", _("Part of training"), {name: _(name) for name in VIEWS})
    if view == "Warm-up":
        schedule.show(row)
    elif frame.for_translators(_("A target and a reference need a model that writes translations.")):
        return
    elif view == "Label smoothing":
        smoothing.show(trace, row)
    else:
        forcing.show(trace, row)
