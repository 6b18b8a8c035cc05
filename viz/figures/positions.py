"""Positional encodings as pictures: the matrix, a row and a column of it, likeness over distance, a shift as a turn.

Draws the numbers it is given; knows nothing of the formula.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float, Int

from viz import theme
from viz.figures.axes import token_labels
from viz.figures.matrix import matrix, signed_scale

CURVE_HEIGHT, CIRCLE_HEIGHT, LIKENESS_HEIGHT = 300, 400, 380
#: A label at every so many dimensions; all of them would not be read.
DIMENSION_LABELS: Final = 16
#: More points than these are thinned out evenly.
MAX_POINTS: Final = 3_000
SINE, COSINE, MEAN, PALE = (theme.HEAD_COLOURS[i] for i in (0, 1, 2, 7))
#: Points between two ends of the arc, for each radian.
ARC_POINTS: Final = 12


def position_labels(tokens: Sequence[str], count: int) -> list[str]:
    """Positions by number, those of the sentence with their token; safe for plotly."""
    labels = [f"{position}  {label}" for position, label in enumerate(token_labels(tokens))]
    return labels[:count] + [str(position) for position in range(len(tokens), count)]


def encoding_heatmap(encoding: Float[np.ndarray, "position dimension"], tokens: Sequence[str]) -> go.Figure:
    """Position by dimension; the sentence's tokens stand along the left, beyond a line bare numbers."""
    positions, dimensions = encoding.shape
    figure = matrix(
        encoding,
        encoding,
        position_labels(tokens, positions),
        [str(dimension) for dimension in range(dimensions)],
        scale=signed_scale("value", encoding, floor=1.0),
        hover="position <b>%{y}</b>, dimension <b>%{x}</b><br>%{z:+.4f}",
    )
    # The colour is the value here: sent once, a slider moves in half the time.
    figure.data[0].customdata = None
    if len(tokens) < positions:
        end = len(tokens) - 0.5
        figure.add_shape(
            type="line", x0=0, x1=1, xref="paper", y0=end, y1=end, line={"color": theme.HEAD_COLOURS[2], "width": 3}
        )
    ticks = list(range(0, dimensions, max(1, -(-dimensions // DIMENSION_LABELS))))
    figure.update_xaxes(tickvals=ticks, ticktext=[str(tick) for tick in ticks], tickangle=0, selector={"side": "top"})
    figure.update_yaxes(tickfont_size=10)
    return figure


def position_curve(row: Float[np.ndarray, "dimension"]) -> go.Figure:
    """One position over its dimensions: the sines, in even dimensions, and the cosines, in odd ones."""
    figure = _chart(CURVE_HEIGHT, "dimension", "value")
    for start, name, colour in ((0, "sine (even)", SINE), (1, "cosine (odd)", COSINE)):
        figure.add_trace(
            go.Scatter(
                x=np.arange(start, len(row), 2),
                y=row[start::2],
                name=name,
                mode="lines+markers",
                line={"color": colour, "width": 1.5},
                marker={"size": 4},
                hovertemplate="dimension %{x}<br>%{y:+.4f}<extra></extra>",
            )
        )
    figure.update_layout(showlegend=True, legend=_legend(), yaxis=_unit_axis("value"))
    return figure


def dimension_curve(
    where: Float[np.ndarray, "sample"],
    wave: Float[np.ndarray, "sample"],
    values: Float[np.ndarray, "position"],
    tokens: Sequence[str],
    wavelength: float,
) -> go.Figure:
    """One dimension over the positions: the wave, a dot at every position, filled for the sentence, and one wavelength.

    Args:
        where, wave: the formula, also between positions.
        values: at the positions 0, 1, ….
        tokens: of the sentence, at the first of these.
        wavelength: in positions; it is marked where it fits.
    """
    figure = _chart(CURVE_HEIGHT, "position", "value")
    last = len(values) - 1
    figure.add_trace(
        go.Scatter(
            x=where, y=wave, mode="lines", line={"color": PALE, "width": 1.2}, hoverinfo="skip", showlegend=False
        )
    )
    for shown, name, opacity in (
        (slice(len(tokens)), "this sentence", 1.0),
        (slice(len(tokens), None), "beyond it", 0.35),
    ):
        figure.add_trace(
            go.Scatter(
                x=np.arange(len(values))[shown],
                y=values[shown],
                customdata=position_labels(tokens, len(values))[shown],
                name=name,
                mode="markers",
                marker={"color": SINE, "size": 6, "opacity": opacity},
                hovertemplate="position %{customdata}<br>%{y:+.4f}<extra></extra>",
            )
        )
    if wavelength <= last:
        figure.add_shape(
            type="rect",
            x0=0,
            x1=wavelength,
            y0=-1.1,
            y1=1.1,
            fillcolor=COSINE,
            opacity=0.22,
            line_width=0,
            layer="below",
        )
    figure.update_layout(
        showlegend=True,
        legend=_legend(),
        yaxis=_unit_axis("value"),
        xaxis_range=[-0.02 * last - 0.5, last * 1.02 + 0.5],
    )
    return figure


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Every pair of tokens of a sentence: where both stand, the first before the second, and their dot product."""

    first: Int[np.ndarray, "pair"]
    second: Int[np.ndarray, "pair"]
    products: Float[np.ndarray, "pair"]


def likeness_over_distance(
    curve: Float[np.ndarray, "distance"], pairs: Pairs, tokens: Sequence[str], *, shows_means: bool
) -> go.Figure:
    """Pairs of a sentence as points over their distance, with the curve that positions alone would give.

    Args:
        curve: the dot product of two encodings at the distances 0, 1, …, as far as is to be drawn.
        pairs: above `MAX_POINTS`, evenly spaced ones are drawn.
        tokens: of the sentence.
        shows_means: draw the mean of all pairs at each distance too.
    """
    figure = _chart(LIKENESS_HEIGHT, "distance in tokens", "dot product")
    stride = max(1, -(-len(pairs.products) // MAX_POINTS))
    first, second = pairs.first[::stride], pairs.second[::stride]
    labels = token_labels(tokens)
    figure.add_trace(
        go.Scatter(
            x=second - first,
            y=pairs.products[::stride],
            customdata=[
                f"<b>{labels[p]}</b> ({p}) and <b>{labels[q]}</b> ({q})" for p, q in zip(first, second, strict=True)
            ],
            name="pairs of this sentence",
            mode="markers",
            marker={"color": COSINE, "size": 6, "opacity": 0.75},
            hovertemplate="%{customdata}<br>distance %{x}<br>dot product %{y:.2f}<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=np.arange(len(curve)),
            y=curve,
            name="PE(p) · PE(p + k)",
            mode="lines",
            line={"color": SINE, "width": 2},
            hovertemplate="distance %{x}<br>positions alone %{y:.2f}<extra></extra>",
        )
    )
    if shows_means and len(pairs.products):
        counts = np.bincount(pairs.second - pairs.first)
        distances = np.flatnonzero(counts)
        sums = np.bincount(pairs.second - pairs.first, pairs.products)
        figure.add_trace(
            go.Scatter(
                x=distances,
                y=sums[distances] / counts[distances],
                name="mean of the pairs",
                mode="lines",
                line={"color": MEAN, "width": 2, "dash": "dash"},
                hovertemplate="distance %{x}<br>mean %{y:.2f}<extra></extra>",
            )
        )
    figure.update_layout(showlegend=True, legend=_legend())
    return figure


def shift_on_circle(
    sine: Float[np.ndarray, "position"], cosine: Float[np.ndarray, "position"], position: int, shift: int, angle: float
) -> go.Figure:
    """One pair of dimensions as a point on the unit circle: at a position, and after a shift, which turns it.

    Args:
        sine, cosine: the pair at the positions 0, 1, …, as far as `position + shift` at least.
        position: where the turn begins.
        shift: how many positions it takes.
        angle: by how much it turns, in radians.
    """
    figure = _chart(CIRCLE_HEIGHT, "cosine", "sine")
    figure.add_shape(type="circle", x0=-1, x1=1, y0=-1, y1=1, line={"color": PALE, "width": 1})
    figure.add_trace(
        go.Scatter(
            x=cosine,
            y=sine,
            customdata=np.arange(len(sine)),
            name="other positions",
            mode="markers",
            marker={"color": PALE, "size": 5, "opacity": 0.6},
            hovertemplate="position %{customdata}<br>cosine %{x:+.4f}<br>sine %{y:+.4f}<extra></extra>",
        )
    )
    start = float(np.arctan2(sine[position], cosine[position]))
    figure.add_trace(_arc(start, angle))
    for at, colour, name in ((position, SINE, "pos"), (position + shift, COSINE, "pos + k")):
        figure.add_trace(
            go.Scatter(
                x=[0, cosine[at]],
                y=[0, sine[at]],
                customdata=[at, at],
                name=f"{name} = {at}",
                mode="lines+markers",
                line={"color": colour, "width": 3},
                marker={"size": [0, 12], "color": colour, "opacity": 1},
                hovertemplate="position %{customdata}<br>cosine %{x:+.4f}<br>sine %{y:+.4f}<extra></extra>",
            )
        )
    axis = {"range": [-1.15, 1.15], "tickvals": [-1, 0, 1]}
    figure.update_layout(
        showlegend=True, legend=_legend(), xaxis=axis, yaxis=axis | {"scaleanchor": "x", "constrain": "domain"}
    )
    figure.update_xaxes(constrain="domain")
    return figure


def _arc(start: float, angle: float) -> go.Scatter:
    """From `start` on by `angle`, in radians, further out with every turn, so that several turns can be counted."""
    along = np.linspace(0.0, 1.0, max(2, int(abs(angle) * ARC_POINTS)))
    radius = 0.3 + 0.4 * along * min(1.0, abs(angle) / (4 * np.pi))
    turned = start + angle * along
    return go.Scatter(
        x=radius * np.cos(turned),
        y=radius * np.sin(turned),
        mode="lines",
        line={"color": theme.HEAD_COLOURS[2], "width": 2},
        hoverinfo="skip",
        name="the turn",
    )


def _chart(height: int, x_title: str, y_title: str) -> go.Figure:
    figure = go.Figure(layout=theme.figure_layout(height))
    figure.update_xaxes(title={"text": x_title, "standoff": 6}, zeroline=False, showgrid=False)
    figure.update_yaxes(title={"text": y_title, "standoff": 4}, zeroline=False)
    return figure


def _unit_axis(title: str) -> dict[str, Any]:
    return {"range": [-1.1, 1.1], "tickvals": [-1, -0.5, 0, 0.5, 1], "title": {"text": title}}


def _legend() -> dict[str, Any]:
    return {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
