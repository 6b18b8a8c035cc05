"""Positional encodings as pictures: all of them as a heatmap, some dimensions as curves.

Draws the numbers it is given, as the model added them; knows nothing of the formula.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.figures.axes import column_axis, full_axis, token_labels
from viz.figures.matrix import matrix, signed_scale

CURVES_HEIGHT = 340
#: A label at every so many dimensions; all of them would not be read.
DIMENSION_LABELS = 16


def encoding_heatmap(encoding: Float[np.ndarray, "position dimension"], tokens: Sequence[str]) -> go.Figure:
    """Position by dimension, tokens along the left."""
    dimensions = encoding.shape[1]
    figure = matrix(
        encoding,
        encoding,
        token_labels(tokens),
        [str(dimension) for dimension in range(dimensions)],
        scale=signed_scale("added", encoding, floor=1.0),
        hover="<b>%{y}</b>, dimension %{x}<br>%{customdata:+.4f}",
    )
    ticks = list(range(0, dimensions, max(1, dimensions // DIMENSION_LABELS)))
    figure.update_xaxes(tickvals=ticks, ticktext=[str(tick) for tick in ticks], tickangle=0, selector={"side": "top"})
    return figure


def encoding_curves(
    encoding: Float[np.ndarray, "position dimension"], dimensions: Sequence[int], tokens: Sequence[str]
) -> go.Figure:
    """The chosen dimensions over the positions, one curve each."""
    labels = token_labels(tokens)
    figure = go.Figure(layout=theme.figure_layout(CURVES_HEIGHT))
    for order, dimension in enumerate(dimensions):
        figure.add_trace(
            go.Scatter(
                x=np.arange(len(encoding)),
                y=encoding[:, dimension],
                name=f"dimension {dimension}",
                mode="lines+markers",
                line={"color": theme.HEAD_COLOURS[order % len(theme.HEAD_COLOURS)], "width": 2},
                marker={"size": 5},
                xaxis="x2",
                hovertemplate="<b>%{x}</b><br>%{y:+.4f}",
            )
        )
    figure.add_trace(go.Scatter(x=[None], y=[None], hoverinfo="skip", showlegend=False))
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis=column_axis(labels),
        xaxis2=full_axis(labels, shares="x"),
        yaxis={"range": [-1.1, 1.1], "tickvals": [-1, -0.5, 0, 0.5, 1], "zeroline": False},
    )
    return figure
