"""What something cost over a size that doubles, as lines on logarithmic axes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import plotly.graph_objects as go

from viz.pages.why_attention.amounts import duration, memory
from viz.pages.why_attention.charts import axis, doubling_axis, headed
from viz.text.messages import _

HEIGHT: Final = 300


@dataclass(frozen=True, slots=True)
class Line:
    """What one thing cost at each size."""

    name: str
    colour: str
    sizes: tuple[int, ...]
    costs: tuple[float, ...]
    is_dashed: bool = False


def time_lines(lines: Sequence[Line], size: str) -> go.Figure:
    """Seconds over the sizes; `size` says what they are."""
    return _lines(lines, _("<b>Time</b>"), size, "s", duration)


def memory_lines(lines: Sequence[Line], size: str) -> go.Figure:
    """Bytes over the sizes; `size` says what they are."""
    return _lines(lines, _("<b>Memory</b>"), size, "B", memory)


def _lines(lines: Sequence[Line], heading: str, size: str, unit: str, written: Callable[[float], str]) -> go.Figure:
    traces = [
        go.Scatter(
            x=line.sizes,
            y=line.costs,
            customdata=[written(cost) for cost in line.costs],
            mode="lines+markers",
            line={"color": line.colour, "width": 2.5, "dash": "dash" if line.is_dashed else "solid"},
            marker={"size": 6},
            hovertemplate=f"<b>{line.name}</b>, %{{x:,}}<br>%{{customdata}}<extra></extra>",
        )
        for line in lines
    ]
    sizes = sorted({size for line in lines for size in line.sizes})
    amounts = {"type": "log", "dtick": 1, "exponentformat": "SI", "ticksuffix": unit}
    return go.Figure(traces, headed(HEIGHT, heading) | {"xaxis": doubling_axis(size, sizes), "yaxis": axis() | amounts})
