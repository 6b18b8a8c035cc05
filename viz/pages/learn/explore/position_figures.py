"""Positional encodings as pictures.

Sliders redraw them, so each figure is made in one piece: plotly takes longer to change one than to make it.
"""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float, Int

from viz import theme
from viz.pictures.figures.charts import LEGEND, MAX_ROW_LABELS, axis, thinned, token_labels
from viz.pictures.figures.heads import matrix, signed_scale
from viz.pictures.figures.traces import dots, line
from viz.text.messages import _
from viz.theme import PlotlySpec

if TYPE_CHECKING:
    from model.analysis.positions import Likeness

CURVE_HEIGHT, CIRCLE_HEIGHT, LIKENESS_HEIGHT = 300, 400, 380
#: A label at every so many dimensions; all of them would not be read.
DIMENSION_LABELS: Final = 8
#: Pixels from one row's label to the next, and for the labels below them all.
ROW_LABEL, DIMENSION_LABEL = 13, 40
#: More points than these are thinned out evenly.
MAX_POINTS: Final = 3_000
#: Points of the arc for each radian.
ARC_POINTS: Final = 12
SINE, COSINE = theme.BLUE, theme.ORANGE
UNIT_AXIS: Final[PlotlySpec] = {"range": [-1.1, 1.1], "tickvals": [-1, -0.5, 0, 0.5, 1]}


def position_labels(tokens: Sequence[str], count: int) -> list[str]:
    """Positions by number, those of the sentence with their token; safe for plotly."""
    labels = [f"{position}  {label}" for position, label in enumerate(token_labels(tokens))]
    return labels[:count] + [str(position) for position in range(len(tokens), count)]


def encoding_heatmap(encoding: Float[np.ndarray, "position dimension"], tokens: Sequence[str]) -> go.Figure:
    """Heatmap of position by dimension; the sentence's tokens label its rows, further positions only numbers."""
    positions, dimensions = encoding.shape
    columns = [str(dimension) for dimension in range(dimensions)]
    where = _("position {position}, dimension {dimension}", position="<b>%{y}</b>", dimension="<b>%{x}</b>")
    figure = matrix(
        encoding,
        encoding,
        position_labels(tokens, positions),
        columns,
        scale=signed_scale(_("value"), encoding, floor=1.0),
        hover=f"{where}<br>%{{z:+.4f}}",
    )
    # The colour is the value here: it need not be sent twice.
    figure.data[0].customdata = None
    end = len(tokens) - 0.5
    edge = {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": end, "y1": end}
    figure.update_layout(
        xaxis=thinned(columns, DIMENSION_LABELS) | {"tickangle": 0},
        yaxis={"tickfont": {"size": 12}},
        # So that every label stands below the one before.
        height=min(positions, MAX_ROW_LABELS) * ROW_LABEL + DIMENSION_LABEL,
        shapes=[edge | {"line": {"color": theme.GREEN, "width": 3}}] if len(tokens) < positions else [],
    )
    return figure


def position_curve(row: Float[np.ndarray, "dimension"], pairs: Int[np.ndarray, "pair 2"]) -> go.Figure:
    """One position over its dimensions: its sines and its cosines, whose dimensions are `pairs`."""
    names = (
        (_("sine (even)"), _("cosine (odd)"))
        if pairs[0, 1] == 1
        else (_("sine (first half)"), _("cosine (second half)"))
    )
    hover = _("dimension {dimension}", dimension="%{x}")
    traces = [
        line(
            dimensions,
            row[dimensions],
            colour,
            f"{hover}<br>%{{y:+.4f}}",
            width=1.5,
            name=name,
            mode="lines+markers",
            marker={"size": 4},
        )
        for dimensions, name, colour in zip(pairs.T, names, (SINE, COSINE), strict=True)
    ]
    return _chart(CURVE_HEIGHT, traces, axis(_("dimension")), axis(_("value")) | UNIT_AXIS)


def dimension_curve(
    where: Float[np.ndarray, "sample"],
    wave: Float[np.ndarray, "sample"],
    values: Float[np.ndarray, "position"],
    tokens: Sequence[str],
    wavelength: float,
) -> go.Figure:
    """One dimension over the positions: the wave, a dot at every position, strong for the sentence, and one wavelength.

    `where` and `wave` are the formula also between positions; the wavelength, in positions, is marked where it fits.
    """
    labels, last = position_labels(tokens, len(values)), len(values) - 1
    hover = _("position {position}", position="%{customdata}")
    traces = [line(where, wave, theme.GREY, width=1.2, showlegend=False)]
    for shown, name, opacity in (
        (slice(len(tokens)), _("this sentence"), 1.0),
        (slice(len(tokens), None), _("beyond this sentence"), 0.4),
    ):
        traces.append(
            dots(
                np.arange(len(values))[shown],
                values[shown],
                {"color": SINE, "size": 6, "opacity": opacity},
                f"{hover}<br>%{{y:+.4f}}",
                customdata=labels[shown],
                name=name,
            )
        )
    band: PlotlySpec = {"type": "rect", "x0": 0, "x1": wavelength, "y0": -1.1, "y1": 1.1, "layer": "below"}
    band |= {"fillcolor": COSINE, "opacity": 0.22, "line": {"width": 0}}
    x_axis = axis(_("position")) | {"range": [-0.02 * last - 0.5, last * 1.02 + 0.5]}
    shapes = [band] if wavelength <= last else []
    return _chart(CURVE_HEIGHT, traces, x_axis, axis(_("value")) | UNIT_AXIS, shapes)


def likeness_over_distance(
    curve: Float[np.ndarray, "distance"], pairs: "Likeness", tokens: Sequence[str], *, shows_means: bool
) -> go.Figure:
    """Token pairs of a sentence as points over their distance, with the curve of positions without words.

    `curve` is the dot product of two encodings at the distances 0, 1, …; of more pairs than `MAX_POINTS`, evenly spaced
    ones are drawn.
    """
    stride = max(1, ceil(len(pairs.products) / MAX_POINTS))
    first, second = pairs.first[::stride], pairs.second[::stride]
    names = [f"<b>{label}</b> ({position})" for position, label in enumerate(token_labels(tokens))]
    distance, product = _distance(), _("dot product {number}", number="%{y:.2f}")
    positions_only = _("positions only {number}", number="%{y:.2f}")
    both = [_("{before} and {last}", before=names[p], last=names[q]) for p, q in zip(first, second, strict=True)]
    traces = [
        dots(
            second - first,
            pairs.products[::stride],
            {"color": COSINE, "size": 6, "opacity": 0.75},
            f"%{{customdata}}<br>{distance}<br>{product}",
            customdata=both,
            name=_("pairs of this sentence"),
        ),
        line(np.arange(len(curve)), curve, SINE, f"{distance}<br>{positions_only}", width=2, name="PE(p) · PE(p + k)"),
    ]
    if shows_means and len(pairs.products):
        traces.append(_means(pairs))
    return _chart(LIKENESS_HEIGHT, traces, axis(_("distance k in tokens")), axis(_("dot product")))


def shift_on_circle(
    sine: Float[np.ndarray, "position"], cosine: Float[np.ndarray, "position"], position: int, shift: int, angle: float
) -> go.Figure:
    """One pair of dimensions as a point on the unit circle: at a position, and after a shift, which turns it.

    `sine` and `cosine` are given as far as `position + shift` at least; `angle` is in radians.
    """
    where = _("position {position}", position="%{customdata}")
    numbers = _("cosine {number}", number="%{x:+.4f}"), _("sine {number}", number="%{y:+.4f}")
    hover = "<br>".join((where, *numbers))
    faint = {"color": theme.GREY, "size": 5, "opacity": 0.6}
    others = dots(cosine, sine, faint, hover, customdata=np.arange(len(sine)), name=_("other positions"))
    ends = [
        line(
            [0, cosine[at]],
            [0, sine[at]],
            colour,
            hover,
            width=3,
            customdata=[at, at],
            name=f"{name} = {at}",
            mode="lines+markers",
            marker={"size": [0, 12], "color": colour, "opacity": 1},
        )
        for at, colour, name in ((position, SINE, "pos"), (position + shift, COSINE, "pos + k"))
    ]
    arc = _arc(float(np.arctan2(sine[position], cosine[position])), angle)
    circle = {"type": "circle", "x0": -1, "x1": 1, "y0": -1, "y1": 1, "line": {"color": theme.GREY, "width": 1}}
    bounds = {"range": [-1.15, 1.15], "tickvals": [-1, 0, 1], "constrain": "domain"}
    x_axis, y_axis = axis(_("cosine")) | bounds, axis(_("sine")) | bounds | {"scaleanchor": "x"}
    return _chart(CIRCLE_HEIGHT, [others, arc, *ends], x_axis, y_axis, [circle])


def _means(pairs: "Likeness") -> go.Scatter:
    """The mean of all pairs at each distance that occurs."""
    counts, sums = np.bincount(pairs.distances), np.bincount(pairs.distances, pairs.products)
    distances = np.flatnonzero(counts)
    hover = f"{_distance()}<br>{_('mean {number}', number='%{y:.2f}')}"
    means = sums[distances] / counts[distances]
    return line(distances, means, theme.GREEN, hover, width=2, dash="dash", name=_("mean of the pairs"))


def _distance() -> str:
    return _("distance {number}", number="%{x}")


def _arc(start: float, angle: float) -> go.Scatter:
    """From `start` on by `angle`, in radians, further out with every turn, so that several turns can be counted."""
    along = np.linspace(0.0, 1.0, max(2, int(angle * ARC_POINTS)))
    radius = 0.3 + 0.4 * along * min(1.0, angle / (4 * np.pi))
    turned = start + angle * along
    return line(radius * np.cos(turned), radius * np.sin(turned), theme.GREEN, width=2, name=_("rotation"))


def _chart(
    height: int, traces: Sequence[go.Scatter], x_axis: PlotlySpec, y_axis: PlotlySpec, shapes: Sequence[PlotlySpec] = ()
) -> go.Figure:
    own = {"showlegend": True, "legend": LEGEND, "xaxis": {"showgrid": False} | x_axis, "yaxis": y_axis}
    return go.Figure(list(traces), theme.figure_layout(height) | own | {"shapes": list(shapes)})
