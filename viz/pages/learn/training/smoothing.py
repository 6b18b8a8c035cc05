"""Label smoothing: the target of one step of the translation, and what the loss makes of a sure model."""

from math import exp
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models
from viz.pages.learn.training import data, figures
from viz.selection import state
from viz.text.messages import _, said
from viz.text.numbers import signed
from viz.text.sites import file_name
from viz.ui import controls, frame, token_labels
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace

_TOO_SURE: Final = said(
    "The model gives “{token}” **{probability:.4f}**; the smoothed target asks for **{target:.4f}**. It is surer than "
    "it should be: the gradient lowers the right token (p − target = {gradient}). Loss: {smoothed:.3f} smoothed, "
    "{one_hot:.3f} one-hot; smoothed, it cannot fall below {least:.3f}, where the right token is {times:,.0f} times as "
    "likely as any other."
)
_NOT_SURE: Final = said(
    "The model gives “{token}” **{probability:.4f}**; the smoothed target asks for **{target:.4f}**. It is not yet as "
    "sure as it should be: the gradient raises the right token (p − target = {gradient}). Loss: {smoothed:.3f} "
    "smoothed, {one_hot:.3f} one-hot; smoothed, it cannot fall below {least:.3f}, where the right token is "
    "{times:,.0f} times as likely as any other."
)


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
    if not hundredths:
        return _(
            "The model gives “{token}” **{probability:.4f}**; the smoothed target asks for **{target:.4f}**. Without "
            "smoothing the loss is −ln p = {one_hot:.3f}: its gradient raises the right token, however sure the model "
            "is, and never lets go.",
            token=token,
            probability=loss.probability,
            target=loss.target,
            one_hot=loss.one_hot,
        )
    return _(
        _TOO_SURE if loss.gradient > 0 else _NOT_SURE,
        token=token,
        probability=loss.probability,
        target=loss.target,
        gradient=signed(loss.gradient, 4),
        smoothed=loss.smoothed,
        one_hot=loss.one_hot,
        least=loss.least,
        times=exp(loss.best_margin),
    )
