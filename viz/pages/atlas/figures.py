"""Draw heads as points by two of their metrics."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.pictures.figures import charts
from viz.pictures.payload import Text
from viz.text.messages import shown
from viz.text.written import CROSS, DECODER, ENCODER, NAMES, decimal, head_label

HEIGHT: Final = 470
#: Heads that are named at the ends of each axis, if not all are.
FEW: Final = 3
#: Attention → the colour and the sign of its heads.
SIGNS: Final = {ENCODER: (theme.BLUE, "circle"), DECODER: (theme.GREEN, "diamond"), CROSS: (theme.VERMILLION, "square")}
#: About the pixels that the points span, half a point, a letter of a name, and its line.
_DRAWN, _POINT, _LETTER, _LINE = 330.0, 7.0, 7.0, 14.0
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
class Axis:
    """The metric along an axis."""

    title: Text
    unit: Text
    decimals: int
    chance: float | None = None  #: the number that chance gives, if there is one

    @property
    def label(self) -> str:
        """Its name with its unit."""
        return f"{shown(self.title)} ({shown(self.unit)})" if self.unit else shown(self.title)

    def written(self, value: float) -> str:
        """A number of it."""
        return f"{decimal(value, self.decimals)} {shown(self.unit)}".rstrip()


@dataclass(frozen=True, eq=False, slots=True)
class Points:
    """Two metrics of the heads of an attention; NaN where a head has none."""

    across: Float[np.ndarray, "layer head"]
    up: Float[np.ndarray, "layer head"]

    def heads(self) -> Iterator[tuple[int, int]]:
        """Layer and head of those that have both."""
        yield from ((int(layer), int(head)) for layer, head in np.argwhere(~np.isnan(self.across + self.up)))

    def has(self, layer: int, head: int) -> bool:
        """Whether there is such a head, with both numbers."""
        return (layer, head) in set(self.heads())

    def of(self, layer: int, head: int) -> tuple[float, float]:
        """Both numbers of a head."""
        return float(self.across[layer, head]), float(self.up[layer, head])


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


def name_places(
    positions: Float[np.ndarray, "point 2"], names: Sequence[str], *, first: int | None
) -> list[str | None]:
    """Where each name is written, of plotly's eight places around a point; None where all of them are taken, or for "".

    A name lies over no point and no other name; that of point `first`, if there is one, is written in any case. For a
    chart of `HEIGHT`, each side of which holds the points from the lowest to the highest.
    """
    span = np.ptp(positions, axis=0)
    points = positions * (_DRAWN / np.where(span > 0, span, 1.0))
    taken = [_Box(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in points.tolist()]
    places: list[str | None] = [None] * len(names)
    for index in sorted(range(len(names)), key=lambda index: index != first):
        if not names[index]:
            continue
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


def outermost(positions: Float[np.ndarray, "point 2"]) -> set[int]:
    """The points at both ends of each axis, `FEW` of each; of equal ones the first."""
    found: set[int] = set()
    for numbers in positions.T:
        found.update(np.argsort(-numbers, kind="stable")[:FEW].tolist())
        found.update(np.argsort(numbers, kind="stable")[:FEW].tolist())
    return found


def scatter(
    sites: Mapping[str, Points],
    across: Axis,
    up: Axis,
    *,
    selected: tuple[str, int, int],
    marked: Collection[tuple[str, int, int]] = (),
    named: str = "few",
) -> go.Figure:
    """One point for each head that has both numbers; `customdata` begins with its attention, layer and head from 0.

    The selected head gets a ring, if it has a point; if heads are marked, all others are pale. `named`: "few" (the
    outermost and the marked), "all" or "none"; a name that has no room is told on hover.
    """
    heads = [(site, *head) for site, points in sites.items() for head in points.heads()]
    places = np.array([sites[site].of(layer, head) for site, layer, head in heads]).reshape(-1, 2)
    chosen = heads.index(selected) if selected in heads else None
    few = outermost(places) | {at for at, head in enumerate(heads) if head in marked}
    names = [
        head_label(layer, head) if named == "all" or (named == "few" and at in few) or at == chosen else ""
        for at, (_site, layer, head) in enumerate(heads)
    ]
    written = name_places(places, names, first=chosen)
    traces = [] if chosen is None else [_ring(places[chosen].tolist())]
    for site in sites:
        own = [at for at, (of_site, *_head) in enumerate(heads) if of_site == site]
        colour, sign = SIGNS[site]
        traces.append(
            go.Scatter(
                x=places[own, 0].tolist(),
                y=places[own, 1].tolist(),
                name=shown(NAMES[site].label),
                customdata=[
                    [*heads[at], head_label(*heads[at][1:]), across.written(places[at, 0]), up.written(places[at, 1])]
                    for at in own
                ],
                text=[names[at] if written[at] else "" for at in own],
                textposition=[written[at] or "top center" for at in own],
                textfont={"size": 12},
                mode="markers+text",
                cliponaxis=False,
                marker={
                    "size": 11,
                    "symbol": sign,
                    "color": colour,
                    "opacity": [1.0 if not marked or heads[at] in marked else 0.25 for at in own],
                    "line": {"color": theme.LIGHT, "width": 1},
                },
                # A click is taken as a choice, not shown as a selection: the others do not fade.
                selected={"marker": {"opacity": 1}},
                unselected={"marker": {"opacity": 1}} if not marked else None,
                hovertemplate=f"<b>%{{customdata[3]}}</b>, {shown(NAMES[site].phrase)}<br>{shown(across.title)} "
                f"%{{customdata[4]}}<br>{shown(up.title)} %{{customdata[5]}}<extra></extra>",
            )
        )
    layout = theme.figure_layout(HEIGHT) | {
        "xaxis": charts.axis(across.label) | {"range": _with_room(places[:, 0])},
        "yaxis": charts.axis(up.label) | {"range": _with_room(places[:, 1])},
        "legend": charts.legend_below_buttons(HEIGHT),
        "showlegend": len(sites) > 1,
        "clickmode": "event+select",
        "margin": {"l": 56, "r": 12, "t": 60, "b": 48, "pad": 0},
        "shapes": _chances(across, up),
    }
    figure = go.Figure(traces, layout)
    boxes = [(x, x, y, y) for x, y in places.tolist()]
    charts.spots(figure, heads=zip(heads, boxes, strict=True))
    return figure


def _ring(place: Sequence[float]) -> go.Scatter:
    marker = {"size": 18, "symbol": "circle-open", "color": theme.ORANGE, "line": {"width": 3}}
    return go.Scatter(x=[place[0]], y=[place[1]], mode="markers", marker=marker, hoverinfo="skip", showlegend=False)


def _chances(across: Axis, up: Axis) -> list[theme.PlotlySpec]:
    """A dotted line where chance is, on each axis that has it."""
    shapes = [] if across.chance is None else [charts.upright(across.chance)]
    if up.chance is not None:
        line = charts.upright(up.chance)["line"]
        shapes.append(
            {"type": "line", "y0": up.chance, "y1": up.chance, "x0": 0, "x1": 1, "xref": "x domain", "line": line}
        )
    return shapes


def _with_room(values: Float[np.ndarray, "point"]) -> list[float]:
    low, high = float(values.min()), float(values.max())
    room = 0.1 * (high - low) or 0.1
    return [low - room, high + room]
