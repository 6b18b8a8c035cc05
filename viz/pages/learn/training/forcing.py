"""Teacher forcing beside free running: what the decoder reads in training, and what it reads on its own."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.access import models
from viz.pages.learn.training import data
from viz.pages.learn.training.component import FilmsState, two_films
from viz.selection import state
from viz.text.messages import _
from viz.text.sites import file_name
from viz.ui import finding
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace


def show(trace: "Trace", controls_row: "DeltaGenerator") -> None:
    """The reference, and both runs as films that stand at the same position."""
    translator = models.any_translator(state.current().model)
    link = finding.of(trace).link
    step = None if link is None or link.step is None or link.step >= len(trace.steps) else link.step
    proposed = data.other_translation(translator, trace, step)
    reference = controls_row.text_input(
        _("Reference translation, which the decoder is made to read"),
        key=state.bind("forced_reference", state.current().learn.forced_reference or proposed.text),
        on_change=state.take,
        args=("forced_reference",),
    )
    typed = reference if reference != proposed.text else ""
    runs = data.two_runs(translator, trace, typed or proposed)
    last = max(len(runs.forced), len(runs.free)) - 1
    step = state.current().learn.forced_step
    moved = two_films(
        runs,
        FilmsState(runs.parting if step is None else min(step, last)),
        key="two-films",
        name=file_name("teacher forcing", sentence=trace.text),
    )
    if moved is not None and moved.step != step:
        state.change(forced_step=moved.step)
    st.markdown(_says(runs))
    st.caption(
        _(
            "Left to right the positions, one a step; arrow keys move both films, Space plays them. In training the "
            "decoder reads the reference, whatever it would have written: all positions can be computed at once, and "
            "a mistake harms no later one. On its own it reads what it wrote. **Framed** is what it would have "
            "written and was not asked for, and in the lower film what it reads that the reference has not."
        )
    )


def _says(runs: data.TwoRuns) -> str:
    if not runs.differ:
        return _(
            "The two never part: on its own the model writes the reference. Over the reference the loss is {loss:.3f} "
            "nats a token.",
            loss=runs.loss,
        )
    forced = runs.forced[runs.parting]
    return _(
        "They part at position {number}: the reference has “{asked}”, to which the model gives {probability:.4f}; it "
        "writes “{written}”, and from there on reads other words. Over the reference the loss is {loss:.3f} nats a "
        "token.",
        number=runs.parting + 1,
        asked=plain(forced.asked),
        probability=forced.probability,
        written=plain(runs.free[runs.parting].written),
        loss=runs.loss,
    )
