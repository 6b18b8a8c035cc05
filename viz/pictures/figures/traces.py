"""Lines and dots of charts, each with what it says under the pointer."""

from collections.abc import Iterable

import plotly.graph_objects as go

from viz.theme import PlotlySpec


def line(
    x: Iterable[object],
    y: Iterable[object],
    colour: str,
    hover: str = "",
    *,
    width: float = 2.5,
    dash: str = "solid",
    **more: object,
) -> go.Scatter:
    """A line in a colour; without `hover` it says nothing. `more` is what else plotly knows of such a trace."""
    ink = {"color": colour, "width": width, "dash": dash}
    return go.Scatter({"x": x, "y": y, "mode": "lines", "line": ink} | _saying(hover) | more)


def dots(x: Iterable[object], y: Iterable[object], marker: PlotlySpec, hover: str, **more: object) -> go.Scatter:
    """Dots that all look as `marker` says."""
    return go.Scatter({"x": x, "y": y, "mode": "markers", "marker": marker} | _saying(hover) | more)


def _saying(hover: str) -> PlotlySpec:
    # The box has no name of the trace beside it.
    return {"hovertemplate": f"{hover}<extra></extra>"} if hover else {"hoverinfo": "skip"}
