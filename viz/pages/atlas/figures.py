"""Draw heads as points on a map on which near ones look alike."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float, Int

from viz.core import theme

HEIGHT: Final = 460
#: Heads that are named on hover.
NEAREST: Final = 3


def head_name(layer: int, head: int) -> str:
    """A head in two numbers, as the map names it: layer.head, both from 1."""
    return f"{layer + 1}.{head + 1}"


def nearest(
    distances: Float[np.ndarray, "layer_head layer_head"], count: int = NEAREST
) -> Int[np.ndarray, "layer_head rank"]:
    """For each head the heads nearest to it, the nearest first; of equally near ones the first."""
    apart = np.array(distances, dtype=np.float64)
    np.fill_diagonal(apart, np.inf)
    order: np.ndarray = np.argsort(apart, axis=1, kind="stable")[:, : min(count, len(apart) - 1)]
    return order


def neighbours(distances: Float[np.ndarray, "layer_head layer_head"], heads: int) -> list[str]:
    """The nearest heads of each as a text, with their distances."""
    return [
        ", ".join(f"{head_name(*divmod(int(other), heads))} ({distances[index, other]:.2f})" for other in others)
        or "none"
        for index, others in enumerate(nearest(distances))
    ]


def _beside(positions: Float[np.ndarray, "layer_head 2"]) -> list[str]:
    """Where each name is written: away from the nearest point, so that two near points keep both names."""
    apart = positions[:, None] - positions[None]
    squares = (apart**2).sum(-1)
    np.fill_diagonal(squares, np.inf)
    if len(positions) < 2:
        return ["top center"]
    across, up = np.take_along_axis(apart, squares.argmin(1)[:, None, None], 1)[:, 0].T
    upright = np.where(up >= 0, "top center", "bottom center")
    sides = np.where(across >= 0, "middle right", "middle left")
    chosen: list[str] = np.where(np.abs(up) >= np.abs(across), upright, sides).tolist()
    return chosen


def head_scatter(
    positions: Float[np.ndarray, "layer head 2"],
    values: Float[np.ndarray, "layer head"],
    distances: Float[np.ndarray, "layer_head layer_head"],
    *,
    name: str,
    shown: Sequence[str],
    selected: tuple[int, int],
) -> go.Figure:
    """One point a head, named layer.head from 1; `customdata` begins with layer and head from 0.

    Args:
        positions: of the points.
        values: what colours them, at least 0; NaN stays uncoloured.
        distances: between all heads, for the names of the nearest.
        name: of the metric that colours.
        shown: its number for each head, as text.
        selected: the layer and head that get a ring.
    """
    layers, heads = values.shape
    flat = positions.reshape(-1, 2)
    names = [head_name(*head) for head in np.ndindex(layers, heads)]
    near = neighbours(distances, heads)
    custom = [[*head, text, others] for head, text, others in zip(np.ndindex(layers, heads), shown, near, strict=True)]
    known = values[~np.isnan(values)]
    top = max(float(known.max(initial=0.0)), 1e-9)
    points = go.Scatter(
        x=flat[:, 0],
        y=flat[:, 1],
        customdata=custom,
        text=names,
        mode="markers+text",
        textposition=_beside(flat),
        textfont={"size": 11},
        marker={
            "size": 14,
            "color": values.ravel().tolist(),
            "cmin": 0,
            "cmax": top,
            "colorscale": theme.colorscale(theme.SEQUENTIAL),
            # Below the buttons of the chart.
            "colorbar": theme.colour_bar(
                "", tuple((part * top, f"{part * top:.2f}") for part in (0, 0.25, 0.5, 0.75, 1))
            )
            | {"len": 0.88, "y": 0, "yanchor": "bottom"},
            "line": {"color": theme.HEAD_COLOURS[7], "width": 1},
        },
        # A click is taken as a choice, not shown as a selection: the others do not fade.
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
        hovertemplate=f"<b>head %{{text}}</b><br>{name} %{{customdata[2]}}<br>nearest: %{{customdata[3]}}"
        "<extra></extra>",
    )
    ring_at = flat[selected[0] * heads + selected[1]]
    ring = go.Scatter(
        x=[ring_at[0]],
        y=[ring_at[1]],
        mode="markers",
        marker={"size": 24, "symbol": "circle-open", "color": theme.HEAD_COLOURS[1], "line": {"width": 3}},
        hoverinfo="skip",
    )
    axis = {"zeroline": False, "showticklabels": False, "showgrid": False, "ticks": ""}
    # Distances are the same in both directions.
    axes = {"xaxis": axis, "yaxis": axis | {"scaleanchor": "x"}, "clickmode": "event+select"}
    return go.Figure([ring, points], theme.figure_layout(HEIGHT) | axes)
