"""Label smoothing: the target of one step of the translation, and what the loss makes of a sure model."""

from math import exp
from typing import TYPE_CHECKING

import streamlit as st

from viz.access import models
from viz.core.file_names import file_name
from viz.core.messages import _
from viz.pages.learn.training import data, figures
from viz.selection import state
from viz.ui import controls, frame, token_labels
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace


def show(trace: "Trace", controls_row: "DeltaGenerator") -> None:
    """The step and ε, the model beside both targets, and in which direction a step of training would go."""
    with controls_row:
        labels = token_labels.step_labels(trace)
        step = controls.token("smoothed_step", _("Step"), labels, default=data.least_sure_step(trace))
        hundredths = controls.slider("smoothing", _("ε, in hundredths"), 0, 40)
    translator = models.any_translator(state.current().model)
    found = data.smoothed_step(translator, trace, step, hundredths)
    frame.chart(
        figures.target_dots(found),
        "smoothed-target",
        file_name("smoothed target", str(step), sentence=trace.text),
        _("What the model gives each token, beside the one-hot and the smoothed target."),
    )
    st.markdown(_says(found, hundredths))
    st.caption(
        _(
            "One row a token, the right one first; the right token is the one that the model wrote, as if its "
            "translation were the reference. The axis has powers of ten, so that the small share can be seen that "
            "smoothing gives to every token of the vocabulary; what is exactly 0 stands at the left edge."
        )
    )


def _says(found: data.SmoothedStep, hundredths: int) -> str:
    loss, token = found.loss, plain(found.tokens[0].lstrip("▁") or found.tokens[0])
    said = f"The model gives “{token}” **{loss.probability:.4f}**; the smoothed target asks for **{loss.target:.4f}**. "
    if not hundredths:
        return said + (
            f"Without smoothing the loss is −ln p = {loss.one_hot:.3f}: its gradient raises the right token, however "
            "sure the model is, and never lets go."
        )
    way = "lowers" if loss.gradient > 0 else "raises"
    sure = "surer than it should be" if loss.gradient > 0 else "not yet as sure as it should be"
    return said + (
        f"It is {sure}: the gradient {way} the right token (p − target = {loss.gradient:+.4f}). Loss: "
        f"{loss.smoothed:.3f} smoothed, {loss.one_hot:.3f} one-hot; smoothed, it cannot fall below {loss.least:.3f}, "
        f"where the right token is {exp(loss.best_margin):,.0f} times as likely as any other."
    )
