"""A step beside its target, and the learning rate over the steps."""

from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.pictures.figures.charts import LEGEND, axis, upright
from viz.text.messages import _
from viz.text.token_text import display_token
from viz.theme import PlotlySpec

if TYPE_CHECKING:
    from jaxtyping import Float

    from viz.pages.learn.training.data import SmoothedStep

HEIGHT: Final = 430
MODEL, SMOOTHED, ONE_HOT = theme.HEAD_COLOURS[0], theme.HEAD_COLOURS[1], theme.HEAD_COLOURS[2]
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
        go.Scatter(
            x=[max(value, FLOOR) for value in values],
            y=rows,
            customdata=values,
            name=name,
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 13, "line": {"width": 2.5}},
            hovertemplate=f"{name} %{{customdata:.6f}}<extra></extra>",
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
    traces = [
        _schedule(_(name), curve, {"color": theme.HEAD_COLOURS[index], "width": 1.8, "dash": "dash"})
        for index, (name, curve) in enumerate(paper.items(), 1)
    ]
    traces.append(_schedule(_("chosen"), own, {"color": MODEL, "width": 3.5}))
    figure = go.Figure(traces, theme.figure_layout(HEIGHT))
    figure.update_xaxes(axis(_("step")) | {"showgrid": False, "tickformat": ",d"})
    figure.update_yaxes(axis(_("learning rate")) | {"rangemode": "tozero", "exponentformat": "power"})
    figure.add_shape(upright(warmup))
    figure.update_layout(showlegend=True, legend=LEGEND)
    return figure


def _schedule(
    name: str, curve: "tuple[Float[np.ndarray, 'step'], Float[np.ndarray, 'step']]", line: PlotlySpec
) -> go.Scatter:
    hover = f"{name}<br>{_rate_at_step()}<extra></extra>"
    return go.Scatter(x=curve[0], y=curve[1], name=name, mode="lines", line=line, hovertemplate=hover)


def trained_curve(steps: tuple[int, ...], rates: tuple[float, ...]) -> go.Figure:
    """The learning rate of a training over all its steps, as its log has it."""
    line = go.Scatter(
        x=list(steps),
        y=list(rates),
        mode="lines",
        line={"color": MODEL, "width": 2},
        hovertemplate=f"{_rate_at_step()}<extra></extra>",
    )
    figure = go.Figure(line, theme.figure_layout(260))
    figure.update_xaxes(axis(_("step")) | {"showgrid": False, "tickformat": ",d"})
    figure.update_yaxes(axis(_("learning rate")) | {"rangemode": "tozero", "exponentformat": "power"})
    return figure


def _rate_at_step() -> str:
    return _("step {number}: {rate}", number="%{x:,}", rate="%{y:.2e}")


def _power(power: int) -> str:
    return "1" if power == 0 else f"10<sup>{power}</sup>".replace("-", "−")
