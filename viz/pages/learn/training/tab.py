"""Training, of the page that teaches: what a model is trained towards, how fast, and what it reads meanwhile."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from html import escape
from math import exp
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from viz import theme
from viz.access import models
from viz.pages.learn.training import data
from viz.pages.learn.training.data import ForcedStep, FreeStep, TwoRuns
from viz.pictures.component import Component, play
from viz.pictures.figures.charts import LEGEND, axis, upright
from viz.pictures.figures.traces import dots, line
from viz.pictures.payload import fingerprint, read
from viz.selection import state
from viz.text.messages import _, said
from viz.text.written import display_token, file_name, signed
from viz.theme import PlotlySpec
from viz.ui import controls, finding, frame, sentence, token_labels
from viz.ui.controls import plain

if TYPE_CHECKING:
    from jaxtyping import Float
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace
    from model.sequence_translator import SequenceTranslator
    from viz.pages.learn.training.data import SmoothedStep

VIEWS = ("Label smoothing", "Warm-up", "Teacher forcing")
_FOLDER: Final = "pages/learn/training"
_COMPONENT: Final = Component(f"{_FOLDER}/two_films.js", f"{_FOLDER}/two_films.css")


@dataclass(frozen=True)
class FilmsState:
    """The current position of both films, from 0."""

    step: int


#: The paper's models: name → d_model and the warm-up's steps (§5.3, Table 3).
PAPER: Final[dict[str, tuple[int, int]]] = {
    said("base, d_model 512"): (512, 4_000),
    said("big, d_model 1,024"): (1_024, 4_000),
}
FORMULA: Final = r"$lr = d_\text{model}^{-0.5} \cdot \min(step^{-0.5},\ step \cdot warmup^{-1.5})$"
#: Steps over which schedules are drawn: as many as the paper trained its base model.
LAST: Final = 100_000
SHOWN: Final = 30_000
_TOO_SURE: Final = said(
    "The model gives “{token}” **{probability:.4f}**; the smoothed target is **{target:.4f}**. The model is "
    "overconfident: the gradient lowers the probability of the right token (p − target = {gradient}). Loss: "
    "{smoothed:.3f} smoothed, {one_hot:.3f} one-hot. The smoothed loss cannot fall below {least:.3f}, where the "
    "right token is {times:,.0f} times as probable as any other."
)
_NOT_SURE: Final = said(
    "The model gives “{token}” **{probability:.4f}**; the smoothed target is **{target:.4f}**. The model is "
    "underconfident: the gradient raises the probability of the right token (p − target = {gradient}). Loss: "
    "{smoothed:.3f} smoothed, {one_hot:.3f} one-hot. The smoothed loss cannot fall below {least:.3f}, where the "
    "right token is {times:,.0f} times as probable as any other."
)


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
        _show_schedule(row)
    elif frame.for_translators(_("A target and a reference need a model that writes translations.")):
        return
    elif view == "Label smoothing":
        _show_smoothing(trace, row)
    else:
        _show_forcing(trace, row)


def _shown(step: ForcedStep | FreeStep) -> dict[str, object]:
    """A step with its tokens as they are drawn."""
    return {name: display_token(value) if isinstance(value, str) else value for name, value in asdict(step).items()}


MODEL, *OTHERS = theme.HEAD_COLOURS
SMOOTHED, ONE_HOT, *_rest = OTHERS


@dataclass(frozen=True, slots=True)
class TwoFilms:
    """The steps of both films; `name` is that of saved pictures, without step and ending."""

    forced: Sequence[Annotated[ForcedStep, _shown]]
    free: Sequence[Annotated[FreeStep, _shown]]
    name: str
    apart: str = SMOOTHED


def two_films(runs: TwoRuns, asked: FilmsState, *, key: str, name: str) -> FilmsState | None:
    """Show both films, where the page wants them; return where they stand once a person has moved them."""
    steps = range(max(len(runs.forced), len(runs.free)))
    return play(
        _COMPONENT,
        TwoFilms(runs.forced, runs.free, name),
        asked=asked,
        read=partial(read, FilmsState, step=steps),
        digest=fingerprint(runs.key),
        key=key,
    )


def _show_forcing(trace: "Trace", controls_row: "DeltaGenerator") -> None:
    """Show the reference, and both runs as films at the same position."""
    translator = models.any_translator(state.current().model)
    proposed = _proposed(translator, trace)
    controls_row.text_input(
        _("Reference translation, which the decoder reads"),
        **state.bound("forced_reference", state.current().learn.forced_reference or proposed.text),
    )
    runs = data.two_runs(translator, trace, asked_reference(translator, trace))
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
    st.markdown(_forcing_in_words(runs))
    frame.caption(
        "The positions run from left to right, one per step; the arrow keys move both films, Space plays them. "
        "In training the decoder reads the reference, whatever it would have written: all positions can be "
        "computed at once, and a mistake affects no later position. On its own it reads its own output. "
        "**Framed** in the upper film: predictions that differ from the reference; in the lower film: tokens "
        "read that are not in the reference."
    )


def _proposed(translator: "SequenceTranslator", trace: "Trace") -> data.OtherTranslation:
    """The reference that the page proposes: where the finding's word is written, the second-best one is taken."""
    link = finding.of(trace).link
    step = None if link is None or link.step is None or link.step >= len(trace.steps) else link.step
    return data.other_translation(translator, trace, step)


def asked_reference(translator: "SequenceTranslator", trace: "Trace") -> str | data.OtherTranslation:
    """The reference that the decoder is made to read: a person's, or the page's, with its tokens."""
    typed, proposed = state.current().learn.forced_reference, _proposed(translator, trace)
    return typed if typed not in ("", proposed.text) else proposed


def _forcing_in_words(runs: data.TwoRuns) -> str:
    if not runs.differ:
        return _(
            "The two agree throughout: on its own the model writes the reference. On the reference the loss is "
            "{loss:.3f} nats per token.",
            loss=runs.loss,
        )
    forced = runs.forced[runs.parting]
    return _(
        "They diverge at position {number}: the reference has “{asked}”, to which the model gives {probability:.4f}; "
        "it writes “{written}”, and from there on reads other words. On the reference the loss is {loss:.3f} nats "
        "per token.",
        number=runs.parting + 1,
        asked=plain(forced.asked),
        probability=forced.probability,
        written=plain(runs.free[runs.parting].written),
        loss=runs.loss,
    )


def _show_schedule(controls_row: "DeltaGenerator") -> None:
    """Two sliders, the schedule, and below it what the chosen model was trained with."""
    with controls_row:
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
    st.markdown(_(message, formula=FORMULA, warmup=warmup, peak=peak, rate=chosen[1][-1], last=SHOWN))
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


def _show_smoothing(trace: "Trace", controls_row: "DeltaGenerator") -> None:
    """The step and ε, the model beside both targets, and in which direction a step of training would go."""
    with controls_row:
        labels = token_labels.step_labels(trace)
        step = controls.position("smoothed_step", _("Step"), labels, default=data.least_probable_step(trace))
        hundredths = controls.slider("smoothing", _("ε, in hundredths"), 0, 40)
    translator = models.any_translator(state.current().model)
    found = data.smoothed_step(translator, trace, step, hundredths)
    frame.chart(
        target_dots(found),
        "smoothed-target",
        file_name("smoothed target", str(step), sentence=trace.text),
        _("The model's probability of each token, with the one-hot and the smoothed target."),
    )
    st.markdown(_smoothing_in_words(found, hundredths))
    frame.caption(
        "One row per token, the right one first; the right token is the one that the model wrote, as if its "
        "translation were the reference. The axis is logarithmic, to show the small probability that smoothing "
        "gives every token of the vocabulary; values of exactly 0 are at the left edge."
    )


def _smoothing_in_words(found: data.SmoothedStep, hundredths: int) -> str:
    right, *_others = found.tokens
    loss, token = found.loss, plain(right.lstrip("▁") or right)
    if not hundredths:
        message = (
            "The model gives “{token}” **{probability:.4f}**; the smoothed target is **{target:.4f}**. Without "
            "smoothing the loss is −ln p = {one_hot:.3f}: its gradient always raises the probability of the right "
            "token, however confident the model is."
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


HEIGHT: Final = 430
#: Where 0 is drawn on an axis of powers of ten.
FLOOR: Final = 1e-7


def target_dots(found: "SmoothedStep") -> go.Figure:
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


def schedule_curves(
    own: "tuple[Float[np.ndarray, 'step'], Float[np.ndarray, 'step']]",
    paper: "dict[str, tuple[Float[np.ndarray, 'step'], Float[np.ndarray, 'step']]]",
    warmup: int,
) -> go.Figure:
    """The chosen schedule, a dotted line at the end of its warm-up, and the schedules of the paper's models."""
    at_step, chosen = _rate_at_step(), _("chosen")
    traces = [
        line(*curve, colour, f"{_(name)}<br>{at_step}", width=1.8, dash="dash", name=_(name))
        for colour, (name, curve) in zip(OTHERS, paper.items(), strict=False)
    ]
    traces.append(line(*own, MODEL, f"{chosen}<br>{at_step}", width=3.5, name=chosen))
    figure = go.Figure(traces, theme.figure_layout(HEIGHT) | _rate_axes())
    figure.add_shape(upright(warmup))
    figure.update_layout(showlegend=True, legend=LEGEND)
    return figure


def trained_curve(steps: tuple[int, ...], rates: tuple[float, ...]) -> go.Figure:
    """The learning rate of a training over all its steps, as its log has it."""
    curve = line(list(steps), list(rates), MODEL, _rate_at_step(), width=2)
    return go.Figure(curve, theme.figure_layout(260) | _rate_axes())


def _rate_axes() -> PlotlySpec:
    rates = axis(_("learning rate")) | {"rangemode": "tozero", "exponentformat": "power"}
    return {"xaxis": axis(_("step")) | {"showgrid": False, "tickformat": ",d"}, "yaxis": rates}


def _rate_at_step() -> str:
    return _("step {number}: {rate}", number="%{x:,}", rate="%{y:.2e}")


def _power(power: int) -> str:
    return "1" if power == 0 else f"10<sup>{power}</sup>".replace("-", "−")
