"""Pooling as pictures: the curve with what one query takes of each point, the weights of all, the error by width."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.pages.why_attention.charts import axis, headed, upright
from viz.pages.why_attention.pooling.data import Regression
from viz.pictures.figures.matrix import WEIGHT_SCALE, matrix
from viz.text.messages import _

HEIGHT, ERROR_HEIGHT = 400, 250
CURVE, POINT, TRUE = theme.HEAD_COLOURS[0], theme.HEAD_COLOURS[1], theme.HEAD_COLOURS[7]
#: Pixels of a point that has no weight, and of one that has all.
_SMALL, _LARGE = 5, 34
#: Hover boxes have no name of a line beside them.
_NO_NAME: Final = "<extra></extra>"


def pooled_curve(found: Regression, query: float) -> go.Figure:
    """Points as large as the weight that the query gives them (by area), the pooled curve, and the true one."""
    traces = [
        go.Scatter(x=found.queries, y=found.true, mode="lines", line={"color": TRUE, "width": 1.5, "dash": "dot"},
                   hovertemplate=_("true curve %{y:.2f}") + _NO_NAME),
        go.Scatter(
            x=found.keys,
            y=found.values,
            customdata=found.row,
            mode="markers",
            marker={
                "color": POINT,
                "size": np.maximum(_SMALL, _LARGE * np.sqrt(found.row)),
                "opacity": 0.75,
                "line": {"width": 0},
            },
            hovertemplate=_("key %{x:.2f}, value %{y:.2f}<br>weight %{customdata:.4f}") + _NO_NAME,
        ),
        go.Scatter(x=found.queries, y=found.predicted, mode="lines", line={"color": CURVE, "width": 3},
                   hovertemplate=_("query %{x:.2f}<br>pooled value %{y:.2f}") + _NO_NAME),
        go.Scatter(
            x=[query],
            y=[found.answer],
            mode="markers",
            marker={"color": CURVE, "size": 13, "line": {"color": theme.LIGHT, "width": 2}},
            hovertemplate=_("this query %{x:.2f}<br>pooled value %{y:.2f}") + _NO_NAME,
        ),
    ]  # fmt: skip
    axes = {"xaxis": axis(_("key, query")) | {"showgrid": False}, "yaxis": axis(_("value"))}
    layout = headed(HEIGHT, _("<b>Values</b> pooled by a query"))
    return go.Figure(traces, layout | axes | {"shapes": [upright(query)]})


def weight_rows(found: Regression, query: float) -> go.Figure:
    """The weights of queries along the curve, a row each, over the keys in their order; framed, the nearest query."""
    figure = matrix(
        found.weights,
        np.sqrt(found.weights),
        [f"{place:.1f}" for place in found.queries],
        [f"{place:.2f}" for place in found.keys],
        scale=WEIGHT_SCALE,
        hover=_("query <b>%{y}</b>, key <b>%{x}</b><br>weight %{customdata:.4f}"),
    )
    row = int(np.abs(found.queries - query).argmin())
    line = {"color": POINT, "width": 2}
    frame = {"type": "rect", "x0": -0.5, "x1": len(found.keys) - 0.5, "y0": row - 0.5, "y1": row + 0.5, "line": line}
    rows, keys = np.arange(0, len(found.queries), 10), np.arange(0, len(found.keys), 5)
    figure.data[0].update(xgap=0, ygap=0)
    labels = {"tickfont": {"size": 12, "color": theme.CHART_TEXT}, "tickangle": 0}
    key_labels = {"tickvals": keys, "ticktext": [f"{found.keys[key]:.1f}" for key in keys], "side": "bottom"}
    query_labels = {"tickvals": rows, "ticktext": [f"{found.queries[one]:.0f}" for one in rows]}
    layout = headed(HEIGHT, _("<b>Weights</b> of every query")) | {"shapes": [frame]}
    layout |= {"xaxis": labels | key_labels | {"title": axis(_("key"))["title"]}}
    figure.update_layout(layout | {"yaxis": labels | query_labels | {"title": axis(_("query"))["title"]}})
    return figure


def error_curve(widths: Sequence[float], errors: Sequence[float], width: float) -> go.Figure:
    """The error of left-out points over the kernel's width; upright, the chosen one."""
    line = go.Scatter(
        x=list(widths),
        y=list(errors),
        mode="lines",
        line={"color": CURVE, "width": 2.5},
        hovertemplate=_("σ = %{x:.2f}<br>error %{y:.3f}") + _NO_NAME,
    )
    ticks = {"type": "log", "tickvals": [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2], "showgrid": False}
    axes = {"xaxis": axis(_("σ, width of the kernel")) | ticks, "yaxis": axis() | {"rangemode": "tozero"}}
    return go.Figure(
        line, headed(ERROR_HEIGHT, _("<b>Error</b> of points left out")) | axes | {"shapes": [upright(width)]}
    )
