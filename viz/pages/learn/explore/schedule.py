"""The schedule of the learning rate in the paper (§5.3), by its width and warm-up, and that of the chosen model."""

from typing import Final

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from jaxtyping import Float

from viz import theme
from viz.access import models
from viz.pages.learn.explore.data import training as data
from viz.pictures.figures.charts import LEGEND, axis, upright
from viz.pictures.figures.traces import line as curve_line
from viz.selection import state
from viz.text.messages import _, said
from viz.text.written import file_name
from viz.theme import PlotlySpec
from viz.ui import controls, frame, terms
from viz.ui.controls import plain
from viz.ui.snippets import Snippet, alone, line

_Curve = tuple[Float[np.ndarray, "step"], Float[np.ndarray, "step"]]
MODEL, *OTHERS = theme.HEAD_COLOURS
HEIGHT: Final = 430
#: The paper's models: name → d_model and the warm-up's steps (§5.3, Table 3).
PAPER: Final[dict[str, tuple[int, int]]] = {
    said("base, d_model 512"): (512, 4_000),
    said("big, d_model 1,024"): (1_024, 4_000),
}
FORMULA: Final = r"$lr = d_\text{model}^{-0.5} \cdot \min(step^{-0.5},\ step \cdot warmup^{-1.5})$"
#: Steps over which schedules are drawn: as many as the paper trained its base model.
LAST: Final = 100_000
SHOWN: Final = 30_000


@frame.fragment
def show() -> None:
    """Two sliders, the schedule, and below it what the chosen model was trained with."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        width = controls.slider("schedule_width", "d_model", 64, 2_048)
        warmup = controls.slider("schedule_warmup", _("Warm-up, steps"), 100, 20_000)
    chosen = data.paper_schedule(width, warmup, SHOWN)
    peak = (width * warmup) ** -0.5
    paper = {name: data.paper_schedule(*numbers, SHOWN) for name, numbers in PAPER.items()}
    frame.chart(
        schedule_curves(chosen, paper, warmup),
        "schedule",
        file_name("schedule", str(width), str(warmup)),
        _("The learning rate over the steps, for the chosen numbers and for the paper's models."),
    )
    message = (
        "{formula}: the learning rate rises for {warmup:,} steps to **{peak:.2e}** = 1 ÷ √(d_model · warm-up), then "
        "falls as 1/√step, to {rate:.2e} at {last:,}."
    )
    terms.markdown(_(message, formula=FORMULA, warmup=warmup, peak=peak, rate=chosen[1][-1], last=SHOWN))
    frame.caption(
        "The first {shown:,} of the {last:,} steps for which the paper trained its base model (§5.2). Dotted "
        "line: the end of the warm-up. A wider model gets a lower learning rate, a longer warm-up a lower peak.",
        shown=SHOWN,
        last=LAST,
    )
    own = data.trained_schedule(state.current().model)
    name = plain(models.name_of(state.current().model))
    if own is None:
        frame.note("{name} has no training log, so its own schedule is unknown.", name=name)
        return
    st.subheader(_("How {name} was trained", name=name), anchor=False)
    frame.chart(
        trained_curve(own.steps, own.values),
        "trained-schedule",
        file_name("trained schedule"),
        _("The learning rate of the chosen model's training over its steps."),
    )
    frame.caption(
        "The highest learning rate in its log is {rate:.1e}. Where the line starts again, a new stage begins: "
        "every stage has its own warm-up.",
        rate=max(own.values),
    )


def python() -> Snippet:
    """The rates of the schedule."""
    learn = state.current().learn
    numbers = learn.schedule_warmup, learn.schedule_width, SHOWN
    settings = line("settings = dict(decay='paper', warmup={}, d_model={}, peak=1.0, total={})", *numbers)
    rates = line("rates = [learning_rate(step, **settings) for step in range(1, {})]", SHOWN + 1)
    return alone({"training.optimizer": "learning_rate"}, settings, rates)


def schedule_curves(own: _Curve, paper: dict[str, _Curve], warmup: int) -> go.Figure:
    """The chosen schedule, a dotted line at the end of its warm-up, and the schedules of the paper's models."""
    at_step, chosen = _rate_at_step(), _("chosen")
    traces = [
        curve_line(*curve, colour, f"{_(name)}<br>{at_step}", width=1.8, dash="dash", name=_(name))
        for colour, (name, curve) in zip(OTHERS, paper.items(), strict=False)
    ]
    traces.append(curve_line(*own, MODEL, f"{chosen}<br>{at_step}", width=3.5, name=chosen))
    figure = go.Figure(traces, theme.figure_layout(HEIGHT) | _rate_axes())
    figure.add_shape(upright(warmup))
    figure.update_layout(showlegend=True, legend=LEGEND)
    return figure


def trained_curve(steps: tuple[int, ...], rates: tuple[float, ...]) -> go.Figure:
    """The learning rate of a training over all its steps, as its log has it."""
    curve = curve_line(list(steps), list(rates), MODEL, _rate_at_step(), width=2)
    return go.Figure(curve, theme.figure_layout(260) | _rate_axes())


def _rate_axes() -> PlotlySpec:
    rates = axis(_("learning rate")) | {"rangemode": "tozero", "exponentformat": "power"}
    return {"xaxis": axis(_("step")) | {"showgrid": False, "tickformat": ",d"}, "yaxis": rates}


def _rate_at_step() -> str:
    return _("step {number}: {rate}", number="%{x:,}", rate="%{y:.2e}")
