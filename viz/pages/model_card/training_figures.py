"""A training run as curves over its steps."""

from html import escape
from typing import TYPE_CHECKING, Final

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from viz.core import theme
from viz.core.html import visible
from viz.core.messages import _, said

if TYPE_CHECKING:
    from model.training_record import Curve, TrainingLog

PANELS: Final = (said("loss"), said("learning rate"), said("BLEU"))
HEIGHT: Final = 640
#: Few points are marked, many would run into one another.
MAX_MARKED: Final = 60


def training_curves(log: "TrainingLog") -> go.Figure:
    """Loss, learning rate and BLEU of each dev set below one another, over the same steps."""
    figure = make_subplots(rows=3, cols=1, shared_xaxes=True, vertical_spacing=0.09)
    figure.update_layout(theme.figure_layout(HEIGHT))
    panels = ((log.loss,), (log.learning_rate,), log.bleu)
    formats = ("%{y:.3f}", "%{y:.3e}", "%{y:.2f}")
    colours = iter(theme.HEAD_COLOURS * 2)
    for row, (curves, title, shown) in enumerate(zip(panels, PANELS, formats, strict=True), start=1):
        for curve in curves:
            label = escape(visible(curve.name), quote=False) if title == "BLEU" else _(title)
            figure.add_trace(_line(curve, label, shown, next(colours), in_legend=title == "BLEU"), row=row, col=1)
        figure.update_yaxes(title_text=_(title), zeroline=False, row=row, col=1)
    # "200μ" is how plotly would write a learning rate.
    figure.update_yaxes(exponentformat="power", rangemode="tozero", row=2, col=1)
    figure.update_yaxes(rangemode="tozero", row=3, col=1)
    figure.update_xaxes(zeroline=False, tickformat=",d")
    figure.update_xaxes(theme.AXIS_TEXT)
    figure.update_yaxes(theme.AXIS_TEXT)
    figure.update_xaxes(title_text=_("step"), row=3, col=1)
    figure.update_layout(
        showlegend=bool(log.bleu),
        legend={"orientation": "h", "x": 0, "y": figure.layout.yaxis3.domain[1] + 0.005, "yanchor": "bottom"},
    )
    return figure


def _line(curve: "Curve", label: str, shown: str, colour: str, *, in_legend: bool) -> go.Scatter:
    return go.Scatter(
        x=list(curve.steps),
        y=list(curve.values),
        name=label,
        mode="lines+markers" if len(curve.steps) <= MAX_MARKED else "lines",
        line={"color": colour, "width": 2},
        marker={"size": 5},
        showlegend=in_legend,
        hovertemplate=f"{_('step {number}', number='%{x:,}')}<br>%{{fullData.name}} {shown}<extra></extra>",
    )
