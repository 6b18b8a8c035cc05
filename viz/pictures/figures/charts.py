"""What charts share: axes, among them those of sizes that double, a legend, headings, notes and dotted lines."""

from collections.abc import Sequence
from typing import Final

from viz import theme
from viz.theme import PlotlySpec

#: So many of the sizes along an axis are labelled.
_LABELS: Final = 6
#: Room above a chart for its heading.
HEADING: Final = 28
#: The names of lines or bars in a row above the chart.
LEGEND: Final[PlotlySpec] = {
    "orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"color": theme.CHART_TEXT, "size": 13},
}  # fmt: skip


def axis(title: str = "") -> PlotlySpec:
    """An axis of numbers, in the ink of charts."""
    font = {"color": theme.CHART_TEXT}
    return {"title": {"text": title, "standoff": 4, "font": font}, "tickfont": font | {"size": 12}, "zeroline": False}


def doubling_axis(title: str, values: Sequence[int]) -> PlotlySpec:
    """A logarithmic axis along numbers that double, some of them labelled, the last among them."""
    stride = -(-len(values) // _LABELS)
    shown = values[(len(values) - 1) % stride :: stride]
    ticks = {"tickvals": list(shown), "ticktext": [f"{value:,}" for value in shown]}
    return axis(title) | ticks | {"type": "log", "showgrid": False, "tickangle": 0}


def powers_axis() -> PlotlySpec:
    """A logarithmic axis labelled at powers of ten."""
    return axis() | {"type": "log", "exponentformat": "power", "dtick": 1}


def headed(height: int, heading: str) -> PlotlySpec:
    """The layout of a chart with a heading above it."""
    layout = theme.figure_layout(height)
    return layout | {"margin": layout["margin"] | {"t": HEADING}, "annotations": [note(heading, 0, 1, "left", 5)]}


def note(text: str, x: float, y: float, side: str, above: int) -> PlotlySpec:
    """A text at a place of the chart, from 0 to 1 along its sides, so many pixels above or below it.

    Args:
        side: of the text that stands there, "left" or "right".
        above: pixels; below 0 the text hangs from the place.
    """
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "x domain",
        "yref": "y domain",
        "xanchor": side,
        "yanchor": "bottom" if above > 0 else "top",
        "align": side,
        "yshift": above,
        "showarrow": False,
        "font": {"color": theme.CHART_TEXT, "size": 13},
    }


def upright(x: float) -> PlotlySpec:
    """A dotted line across a chart, at a value of its x axis."""
    line = {"color": theme.HEAD_COLOURS[7], "width": 1.5, "dash": "dot"}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "y domain", "line": line}
