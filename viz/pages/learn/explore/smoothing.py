"""Label smoothing: one step of the translation against its one-hot and its smoothed target (§5.4)."""

from html import escape
from math import exp
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from viz import theme
from viz.access import models
from viz.pages.learn.explore.data import training as data
from viz.pictures.figures.charts import LEGEND, axis
from viz.pictures.figures.traces import dots
from viz.selection import state
from viz.text.messages import _, said
from viz.text.written import display_token, file_name, signed
from viz.ui import controls, frame, terms, token_labels
from viz.ui.controls import plain
from viz.ui.snippets import Snippet, line, of_text

if TYPE_CHECKING:
    from model import Trace

MODEL, SMOOTHED, ONE_HOT, *_rest = theme.HEAD_COLOURS
HEIGHT: Final = 430
#: Where 0 is drawn on an axis of powers of ten.
FLOOR: Final = 1e-7
_TOO_SURE: Final = said(
    "The model gives “{token}” **{probability:.4f}**; the smoothed target is **{target:.4f}**. The model is "
    "overconfident: the gradient lowers the probability of the correct token (p − target = {gradient}). Loss: "
    "{smoothed:.3f} smoothed, {one_hot:.3f} one-hot. The smoothed loss cannot fall below {least:.3f}, where the "
    "correct token is {times:,.0f} times as probable as any other."
)
_NOT_SURE: Final = said(
    "The model gives “{token}” **{probability:.4f}**; the smoothed target is **{target:.4f}**. The model is "
    "underconfident: the gradient raises the probability of the correct token (p − target = {gradient}). Loss: "
    "{smoothed:.3f} smoothed, {one_hot:.3f} one-hot. The smoothed loss cannot fall below {least:.3f}, where the "
    "correct token is {times:,.0f} times as probable as any other."
)


@frame.fragment
def show(trace: "Trace") -> None:
    """The step and ε, the model beside both targets, and in which direction a step of training would go."""
    abilities = models.abilities(state.current().model)
    if frame.lacking(abilities, "teacher forcing") or frame.lacking(abilities, "word choice"):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        labels = token_labels.step_labels(trace)
        step = controls.position("smoothed_step", _("Step"), labels, default=data.least_probable_step(trace))
        hundredths = controls.slider("smoothing", _("ε, in hundredths"), 0, 40)
    translator = models.chooser(state.current().model)
    found = data.smoothed_step(translator, trace, step, hundredths)
    frame.chart(
        target_dots(found),
        "smoothed-target",
        file_name("smoothed target", str(step + 1), sentence=trace.text),
        _("The model's probability of each token, with the one-hot and the smoothed target."),
    )
    terms.markdown(_smoothing_in_words(found, hundredths))
    frame.caption(
        "One row per token, the correct one first: here, the token that the model wrote, as if its translation "
        "were the reference. The axis is logarithmic, to show the small probability that smoothing gives every "
        "token of the vocabulary; values of exactly 0 are at the left edge."
    )


def python(trace: "Trace") -> Snippet:
    """The loss of the step against its smoothed target."""
    abilities = models.abilities(state.current().model)
    if not (abilities.has("teacher forcing") and abilities.has("word choice")):
        return ""
    step = state.position("smoothed_step", len(token_labels.step_labels(trace)), data.least_probable_step(trace))
    log_probs = line("log_probs = step_log_probs(reader, trace.text, trace.target_ids[:{}])", step + 1)
    template = "loss = step_loss(log_probs, trace.steps[{}].token_id, smoothing={})"
    loss = line(template, step, state.current().learn.smoothing / 100)
    return of_text(trace, {"analysis.label_smoothing": "step_log_probs, step_loss"}, log_probs, loss)


def _smoothing_in_words(found: data.SmoothedStep, hundredths: int) -> str:
    right, *_others = found.tokens
    loss, token = found.loss, plain(right.lstrip("▁") or right)
    if not hundredths:
        message = (
            "The model gives “{token}” **{probability:.4f}**; the smoothed target is **{target:.4f}**. Without "
            "smoothing the loss is −ln p = {one_hot:.3f}: its gradient always raises the probability of the "
            "correct token, however confident the model is."
        )
        return _(message, token=token, probability=loss.probability, target=loss.target, one_hot=loss.one_hot)
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


def target_dots(found: data.SmoothedStep) -> go.Figure:
    """Each token's probability by the model, and what both targets ask, on an axis of powers of ten."""
    labels = [*(display_token(token) for token in found.tokens), _("each of {count:,} others", count=found.others)]
    rows = list(range(len(labels)))
    others = [found.asked] * (len(labels) - 1)
    series: tuple[tuple[str, list[float], str, str], ...] = (
        (_("one-hot target"), [1.0, *[0.0] * len(others)], ONE_HOT, "diamond-open"),
        (_("smoothed target"), [found.loss.target, *others], SMOOTHED, "square-open"),
        (_("the model"), [*map(float, found.probabilities), found.rest], MODEL, "circle"),
    )
    traces = [
        dots(
            [max(value, FLOOR) for value in values],
            rows,
            {"color": colour, "symbol": symbol, "size": 13, "line": {"width": 2.5}},
            f"{name} %{{customdata:.6f}}",
            customdata=values,
            name=name,
        )
        for name, values, colour, symbol in series
    ]
    figure = go.Figure(traces, theme.figure_layout(HEIGHT))
    powers = range(round(np.log10(FLOOR)), 1)
    ticks = {"tickvals": [10.0**power for power in powers], "ticktext": ["0", *(_power(power) for power in powers[1:])]}
    span = [np.log10(FLOOR) - 0.2, 0.2]
    figure.update_xaxes(axis(_("probability")) | ticks | {"type": "log", "range": span})
    names = {"tickvals": rows, "ticktext": [escape(label, quote=False) for label in labels]}
    figure.update_yaxes(axis() | names | {"range": [len(labels) - 0.5, -0.5], "showgrid": True})
    figure.update_layout(showlegend=True, legend=LEGEND)
    return figure


def _power(power: int) -> str:
    return "1" if power == 0 else f"10<sup>{power}</sup>".replace("-", "−")
