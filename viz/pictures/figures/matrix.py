"""Draw a matrix with labels along its sides as a heatmap; rows top to bottom, columns left to right."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz import theme
from viz.pictures.figures.charts import column_axis, full_axis, row_axis
from viz.text.messages import said, shown
from viz.text.written import signed

#: Beyond this many cells along a side the gaps between them would eat the picture.
MAX_CELLS_WITH_GAPS: Final = 40
#: Rows get this many pixels, within the bounds of a screen.
ROW_HEIGHT, MIN_HEIGHT, MAX_HEIGHT = 25, 150, 720


@dataclass(frozen=True, slots=True)
class Scale:
    """How a number becomes a colour: `low` to `high` along `stops`, with a colour bar labelled at `ticks`."""

    title: str
    stops: tuple[str, ...]
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]


def root_scale(title: str, top: float) -> Scale:
    """A scale from 0 to `top` for colours at the square root of value / top; the bar is labelled with values."""
    ticks = tuple((tick**0.5, f"{tick * top:.2g}") for tick in theme.SQRT_TICKS)
    return Scale(title, theme.SEQUENTIAL, 0.0, 1.0, ticks)


#: Attention weights, coloured by their square root; `matrix` is given √w as colours and w as values.
WEIGHT_SCALE: Final = root_scale(said("weight"), 1.0)


def signed_scale(title: str, values: NDArray[np.generic], *, floor: float) -> Scale:
    """A scale around zero that just holds the values, but never less than ± `floor`, so that noise is not blown up."""
    largest = float(np.abs(np.asarray(values, np.float64)).max(initial=0.0))
    bound = max(largest, floor)
    half = bound / 2
    labels = tuple((tick, signed(tick) if tick else "0") for tick in (-bound, -half, 0.0, half, bound))
    return Scale(title, theme.DIVERGING, -bound, bound, labels)


def height_for(rows: int, labels: Sequence[str] = ()) -> int:
    """Pixels for so many rows and the labels above their columns."""
    above = 30 + 8 * min(14, max((len(label) for label in labels), default=0))
    return min(MAX_HEIGHT, max(MIN_HEIGHT, rows * ROW_HEIGHT + above))


def matrix(
    values: NDArray[np.generic],
    colours: NDArray[np.generic],
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    *,
    scale: Scale,
    hover: str,
) -> go.Figure:
    """A heatmap `[row, column]` of `colours`; the hover shows `values` as `%{customdata}`.

    Labels, top to bottom and left to right, are safe for plotly (`axes.token_labels`); `%{y}` and `%{x}` on hover.
    """
    rows, columns = values.shape
    assert (len(row_labels), len(column_labels)) == (rows, columns), "one label for each row and each column"
    gap = 1 if max(rows, columns) <= MAX_CELLS_WITH_GAPS else 0
    heatmap = go.Heatmap(
        z=colours,
        customdata=values,
        zmin=scale.low,
        zmax=scale.high,
        colorscale=theme.colorscale(scale.stops),
        colorbar=theme.colour_bar(shown(scale.title), scale.ticks),
        xgap=gap,
        ygap=gap,
        xaxis="x2",
        yaxis="y2",
        hovertemplate=hover + "<extra></extra>",
    )
    axes: dict[str, object] = {
        "xaxis": column_axis(column_labels) | {"side": "top"},
        "yaxis": row_axis(row_labels),
        "xaxis2": full_axis(column_labels, shares="x"),
        "yaxis2": full_axis(row_labels, shares="y"),
    }
    # An axis without a trace is not drawn; the labels that are read need one, be it empty.
    for_labels = go.Scatter(x=[None], y=[None], hoverinfo="skip")
    if gap and scale.stops == theme.DIVERGING:
        # Zero is as dark as a dark page: the gaps between cells show where they are.
        axes["plot_bgcolor"] = theme.BETWEEN_CELLS
    # In one piece: plotly takes several times as long to add to a figure that it has made.
    return go.Figure([heatmap, for_labels], theme.figure_layout(height_for(rows, column_labels)) | axes)
