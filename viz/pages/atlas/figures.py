"""Draw heads as points on a map on which near ones look alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float, Int

from viz import theme
from viz.pictures.figures import charts
from viz.text.messages import _
from viz.text.written import head_label

HEIGHT: Final = 460
#: Heads that are named on hover.
NEAREST: Final = 3
#: About the pixels that the points span on a phone, half a point, a letter of a name, and its line.
_DRAWN, _POINT, _LETTER, _LINE = 250.0, 8.0, 7.0, 14.0
#: Where plotly writes the text of a point: to which side of it, and above or below.
_PLACES: Final = {
    "top center": (0, 1),
    "bottom center": (0, -1),
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top right": (1, 1),
    "top left": (-1, 1),
    "bottom right": (1, -1),
    "bottom left": (-1, -1),
}


@dataclass(frozen=True, slots=True)
class _Box:
    """A rectangle on the chart, in pixels."""

    left: float
    low: float
    right: float
    high: float

    def meets(self, other: "_Box") -> bool:
        """Whether both share a part of the chart."""
        return self.left < other.right and other.left < self.right and self.low < other.high and other.low < self.high


def nearest(
    distances: Float[np.ndarray, "layer_head layer_head"], count: int = NEAREST
) -> Int[np.ndarray, "layer_head rank"]:
    """For each head the heads nearest to it, the nearest first; of equally near ones the first. NaN: no such head."""
    apart = np.nan_to_num(np.array(distances, dtype=np.float64), nan=np.inf)
    np.fill_diagonal(apart, np.inf)
    heads = int((~np.isnan(np.diag(distances))).sum())
    order: np.ndarray = np.argsort(apart, axis=1, kind="stable")[:, : min(count, heads - 1)]
    return order


def neighbours(
    distances: Float[np.ndarray, "layer_head layer_head"], heads: int, named: Callable[[int, int], str] = head_label
) -> list[str]:
    """The nearest heads of each as a text, with their distances; `named` says what a head is called."""
    return [
        ", ".join(f"{named(*divmod(int(other), heads))} ({distances[index, other]:.2f})" for other in others)
        or _("none")
        for index, others in enumerate(nearest(distances))
    ]


def name_places(
    positions: Float[np.ndarray, "layer_head 2"], names: Sequence[str], *, first: int = 0
) -> list[str | None]:
    """Where each name is written, of plotly's eight places around a point; None where all of them are taken.

    A name lies over no point and no other name; that of point `first` is written in any case. For a chart of `HEIGHT`.
    """
    span = float(np.ptp(positions, axis=0).max(initial=0.0)) or 1.0
    points = positions * (_DRAWN / span)
    taken = [_Box(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in points.tolist()]
    places: list[str | None] = [None] * len(names)
    for index in sorted(range(len(names)), key=lambda index: index != first):
        others = [box for at, box in enumerate(taken) if at != index]
        boxes = {place: _name_box(points[index].tolist(), names[index], *side) for place, side in _PLACES.items()}
        free = [place for place, box in boxes.items() if not any(box.meets(other) for other in others)]
        if free or index == first:
            places[index] = chosen = (free or list(_PLACES))[0]
            taken.append(boxes[chosen])
    return places


def _name_box(point: Sequence[float], name: str, across: int, up: int) -> _Box:
    half = _LETTER * len(name) / 2
    x, low = point[0] + across * (half + _POINT), point[1] + up * (_LINE / 2 + _POINT) - _LINE / 2
    return _Box(x - half, low, x + half, low + _LINE)


def head_scatter(
    positions: Float[np.ndarray, "layer head 2"],
    values: Float[np.ndarray, "layer head"],
    distances: Float[np.ndarray, "layer_head layer_head"],
    *,
    site: str,
    name: str,
    shown: Sequence[str],
    ends: tuple[float, float],
    is_centred: bool,
    selected: tuple[int, int],
) -> go.Figure:
    """One point a head (NaN where a layer has no such head); `customdata` begins with layer and head from 0.

    A metric (`name`, `shown` as text) colours by its values between `ends`, around their middle if `is_centred`; NaN
    stays uncoloured. The nearest, by the distances, are named; the selected layer and head get a ring.
    """
    layers, heads = values.shape
    flat = positions.reshape(layers * heads, 2)
    names = [head_label(*head) for head in np.ndindex(layers, heads)]
    near = neighbours(distances, heads)
    every = zip(np.ndindex(layers, heads), shown, near, names, strict=True)
    custom = [[*head, text, others, label] for head, text, others, label in every]
    there = np.flatnonzero(np.isfinite(flat).all(axis=1))
    chosen = selected[0] * heads + selected[1]
    first = int(np.searchsorted(there, chosen)) if chosen in there else 0
    flat, names, custom = flat[there], [names[at] for at in there], [custom[at] for at in there]
    places = name_places(flat, names, first=first)
    across, up = flat.T
    low, high = ends
    marks = tuple(low + part * (high - low) for part in (0, 0.25, 0.5, 0.75, 1))
    points = go.Scatter(
        x=across,
        y=up,
        customdata=custom,
        # A head whose name has no room is named on hover.
        text=[label if place else "" for label, place in zip(names, places, strict=True)],
        mode="markers+text",
        cliponaxis=False,
        textposition=[place or "top center" for place in places],
        textfont={"size": 12},
        marker={
            "size": 14,
            "color": values.ravel()[there].tolist(),
            "cmin": low,
            "cmax": max(high, low + 1e-9),
            "colorscale": theme.colorscale(theme.DIVERGING if is_centred else theme.SEQUENTIAL),
            # Below the points, which have the whole width of a phone.
            "colorbar": theme.colour_bar("", tuple((mark, f"{mark:.2f}") for mark in marks))
            | {"orientation": "h", "len": 0.5, "x": 0, "xanchor": "left", "y": 0, "yanchor": "top"},
            "line": {"color": theme.GREY, "width": 1},
        },
        # A click is taken as a choice, not shown as a selection: the others do not fade.
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
        hovertemplate=f"<b>%{{customdata[4]}}</b><br>{name} %{{customdata[2]}}<br>"
        f"{_('nearest: {heads}', heads='%{customdata[3]}')}<extra></extra>",
    )
    ring = go.Scatter(
        x=[across[first]],
        y=[up[first]],
        mode="markers",
        marker={"size": 19, "symbol": "circle-open", "color": theme.ORANGE, "line": {"width": 3}},
        hoverinfo="skip",
    )
    axis = {"zeroline": False, "showticklabels": False, "showgrid": False, "ticks": ""}
    # Distances are the same in both directions.
    # Names stand beside the outermost points.
    lowest, highest = flat.min(axis=0), flat.max(axis=0)
    room = 0.12 * (highest - lowest)
    x_range, y_range = np.stack([lowest - room, highest + room], axis=1).tolist()
    axes = {
        "xaxis": axis | {"range": x_range},
        "yaxis": axis | {"range": y_range, "scaleanchor": "x"},
        "clickmode": "event+select",
    }
    # Room above for the buttons, which would lie over a name.
    margin = {"margin": {"l": 24, "r": 8, "t": 36, "b": 16, "pad": 0}}
    figure = go.Figure([ring, points], theme.figure_layout(HEIGHT) | axes | margin)
    boxes = [(x, x, y, y) for x, y in flat.tolist()]
    charts.spots(figure, heads=(((site, *divmod(int(at), heads)), box) for at, box in zip(there, boxes, strict=True)))
    return figure
