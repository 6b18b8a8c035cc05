"""Draw the distances between the heads of two models."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.pictures.figures.matrix import Scale, matrix
from viz.text.messages import _
from viz.text.sites import head_label

#: With more cells than this, marks that can be clicked would make the picture slow.
MOST_CELLS: Final = 2_500

if TYPE_CHECKING:
    from model.analysis.metrics.head_names import HeadName


def distance_map(
    distances: Float[np.ndarray, "first second"],
    first: "Sequence[HeadName]",
    second: "Sequence[HeadName]",
    *,
    matching: Sequence[tuple[int, int]],
    opened: tuple[int, int],
) -> go.Figure:
    """A row for each head of the first model, a column for each of the second's, to be clicked if not too many.

    Args:
        distances: in bits, 0 to 1; the nearer, the lighter.
        first, second: the heads.
        matching: cells of the best one-to-one matching, which get a dot.
        opened: the cell of the two heads that are shown, which gets a ring.
    """
    rows, columns = ([head_label(head.layer, head.head) for head in heads] for heads in (first, second))
    top = max(float(distances.max(initial=0.0)), 0.05)
    ticks = tuple((-part * top, f"{part * top:.2f}") for part in (0, 0.25, 0.5, 0.75, 1))
    figure = matrix(
        distances,
        -distances,
        rows,
        columns,
        scale=Scale(_("bits"), theme.SEQUENTIAL, -top, 0.0, ticks),
        hover=_hover("%{y}", "%{x}", "%{customdata:.3f}"),
    )
    dots = go.Scatter(
        x=[column for _, column in matching],
        y=[row for row, _ in matching],
        mode="markers",
        marker={"size": 6, "color": theme.HEAD_COLOURS[1], "line": {"width": 1, "color": theme.NIGHT}},
        hoverinfo="skip",
        xaxis="x2",
        yaxis="y2",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )
    ring = go.Scatter(
        x=[opened[1]],
        y=[opened[0]],
        mode="markers",
        marker={"size": 17, "symbol": "circle-open", "color": theme.HEAD_COLOURS[2], "line": {"width": 3}},
        hoverinfo="skip",
        xaxis="x2",
        yaxis="y2",
    )
    cells = [] if distances.size > MOST_CELLS else [_cells(distances, rows, columns)]
    return go.Figure([*figure.data, dots, ring, *cells], figure.layout)


def _hover(first: str, second: str, bits: str) -> str:
    """Both heads and how far they are apart, each as a name of plotly's."""
    return _("<b>{first}</b> and <b>{second}</b><br>{bits} bits apart", first=first, second=second, bits=bits)


def _cells(distances: Float[np.ndarray, "first second"], rows: Sequence[str], columns: Sequence[str]) -> go.Scatter:
    """A transparent mark on each cell: plotly reports clicks on points, not on cells."""
    places = list(np.ndindex(distances.shape))
    return go.Scatter(
        x=[column for _, column in places],
        y=[row for row, _ in places],
        customdata=[[*place, float(distances[place]), rows[place[0]], columns[place[1]]] for place in places],
        mode="markers",
        marker={"size": 16, "symbol": "square", "opacity": 0},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        hovertemplate=_hover("%{customdata[3]}", "%{customdata[4]}", "%{customdata[2]:.3f}") + "<extra></extra>",
        xaxis="x2",
        yaxis="y2",
    )
