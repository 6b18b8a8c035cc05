"""A training run as curves over its steps."""

from html import escape
from typing import TYPE_CHECKING, Final

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from viz import theme
from viz.pictures.figures.axes import whole_numbers
from viz.text.html import visible
from viz.text.messages import _, said

if TYPE_CHECKING:
    from model.training_record import Curve, TrainingLog

PANELS: Final = (said("loss"), said("learning rate"), said("BLEU"))
FORMATS: Final = ("%{y:.3f}", "%{y:.3e}", "%{y:.2f}")
PANEL_HEIGHT: Final = 213
#: Few points are marked, many would run into one another.
MAX_MARKED: Final = 60


def training_curves(log: "TrainingLog") -> go.Figure | None:
    """Those of loss, learning rate and BLEU of each dev set that were logged, below one another, over the same steps;
    None if nothing was.
    """
    every = ((log.loss,), (log.learning_rate,), log.bleu)
    panels = [
        (title, shown, known)
        for title, shown, curves in zip(PANELS, FORMATS, every, strict=True)
        if (known := [curve for curve in curves if curve.steps])
    ]
    if not panels:
        return None
    figure = make_subplots(rows=len(panels), cols=1, shared_xaxes=True, vertical_spacing=0.09)
    figure.update_layout(theme.figure_layout(PANEL_HEIGHT * len(panels)))
    colours = iter(theme.HEAD_COLOURS * 2)
    for row, (title, shown, curves) in enumerate(panels, start=1):
        for curve in curves:
            label = escape(visible(curve.name), quote=False) if title == "BLEU" else _(title)
            figure.add_trace(_line(curve, label, shown, next(colours), in_legend=title == "BLEU"), row=row, col=1)
        # "200μ" is how plotly would write a learning rate.
        written = {"exponentformat": "power"} if title == "learning rate" else {}
        mode = "normal" if title == "loss" else "tozero"
        figure.update_yaxes(title_text=_(title), zeroline=False, rangemode=mode, row=row, col=1, **written)
    last = max(step for _title, _shown, curves in panels for curve in curves for step in curve.steps)
    figure.update_xaxes(whole_numbers(last) | {"zeroline": False} | theme.AXIS_TEXT)
    figure.update_yaxes(theme.AXIS_TEXT)
    figure.update_xaxes(title_text=_("step"), row=len(panels), col=1)
    top = list(figure.select_yaxes())[-1].domain[1]
    figure.update_layout(
        showlegend=panels[-1][0] == "BLEU",
        legend={"orientation": "h", "x": 0, "y": top + 0.005, "yanchor": "bottom"},
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
