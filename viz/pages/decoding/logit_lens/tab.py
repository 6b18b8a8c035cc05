"""The logit lens, of the decoding page: what each layer would have said."""

from functools import partial
from math import exp
from typing import TYPE_CHECKING

import streamlit as st

from viz.access import models
from viz.pages.decoding import tables as decoded_tables
from viz.pages.decoding.logit_lens import data
from viz.pages.decoding.logit_lens.component import LensTable, lens_table
from viz.pages.decoding.probabilities import label_smoothing_note
from viz.selection import state
from viz.text.messages import _
from viz.text.numbers import TOLERANCE, scientific
from viz.text.sites import file_name
from viz.ui import frame, number_controls

if TYPE_CHECKING:
    from model import Trace
    from model.decoding.logit_lens import LogitLens


@frame.fragment
def show(trace: "Trace") -> None:
    """Layers by steps, the proof that the last layer is the model's output, and the table to take along."""
    if frame.lacking(models.abilities(state.current().model), "logit lens"):
        return
    st.caption(
        _("What would each decoder layer have said, had it been the last? At the ✓ the model has made up its mind."),
        help=_(
            "The output of each layer goes through the model's own final norm and output projection. Read a "
            "column downwards: the token that goes in, what each layer would write next, and at the bottom what "
            "was written. The first layers mostly repeat what goes in, for input and output share one "
            "embedding. Point at a cell for its five best; click it to choose its step."
        ),
    )
    lens = data.logit_lens(trace, models.writer(state.current().model))
    name, read = file_name("logit lens", sentence=trace.text), trace.target_tokens[-len(trace.steps) :]
    table = LensTable.of(lens, read, step=state.current().decoding.step, name=name)
    lens_table(table, on_choose=_choose, key="lens")
    _badge(trace, lens)
    if note := label_smoothing_note():
        st.caption(note)
    number_controls.table_button(_("Table (CSV)"), partial(decoded_tables.lens, lens, read), name)


def deviation(trace: "Trace", lens: "LogitLens") -> float:
    """Largest difference between what the last layer says of the written tokens and what the model said of them."""
    of_lens: list[float] = lens.chosen_probabilities[-1].tolist()
    return max(abs(probability - exp(step.log_prob)) for probability, step in zip(of_lens, trace.steps, strict=True))


def _badge(trace: "Trace", lens: "LogitLens") -> None:
    is_same = tuple(best[0] for best in lens.token_ids[-1].tolist()) == trace.predicted_ids
    largest = deviation(trace, lens)
    difference = scientific(largest)
    if is_same and largest <= TOLERANCE:
        same = _("last layer = the model's output: largest difference of a probability {value}", value=difference)
        st.badge(same, icon=":material/check:", color="green")
    else:
        other = _("last layer ≠ the model's output: largest difference of a probability {value}", value=difference)
        st.badge(other, icon=":material/warning:", color="red")


def _choose(step: int) -> None:
    state.change(step=step)
