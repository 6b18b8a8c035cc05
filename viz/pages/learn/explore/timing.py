"""What was measured on this machine: times and memory in words and as lines, and a warning where it was busy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import plotly.graph_objects as go
import streamlit as st

from viz.pictures.figures.charts import axis, doubling_axis, headed
from viz.pictures.figures.traces import line
from viz.text.messages import _
from viz.text.written import amount, three_digits

DEVICES: Final = {"cpu": "CPU", "cuda": "GPU"}
#: From here on, the run in the middle took so many times as long as the fastest.
UNSTEADY: Final = 1.5
LINES_HEIGHT: Final = 300


@dataclass(frozen=True, slots=True)
class Line:
    """What one thing cost at each size."""

    name: str
    colour: str
    sizes: tuple[int, ...]
    costs: tuple[float, ...]
    is_dashed: bool = False


def duration(seconds: float) -> str:
    """Seconds in the unit that suits: 12.3 µs, 4.56 ms, 1.20 s."""
    for step, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= step:
            return f"{three_digits(seconds / step)} {unit}"
    return f"{three_digits(seconds * 1e6)} µs"


def memory(num_bytes: float) -> str:
    """Bytes in the unit that suits: 65.5 kB, 1.07 GB."""
    return f"{amount(num_bytes)}B" if num_bytes >= 1e3 else f"{num_bytes:.0f} B"


def cost_lines(lines: Sequence[Line], size: str, unit: Literal["s", "B"] = "s") -> go.Figure:
    """Seconds, or bytes, over the sizes; `size` says what they are."""
    heading, written = (_("<b>Time</b>"), duration) if unit == "s" else (_("<b>Memory</b>"), memory)
    traces = [
        line(
            one.sizes,
            one.costs,
            one.colour,
            f"<b>{one.name}</b>, %{{x:,}}<br>%{{customdata}}",
            dash="dash" if one.is_dashed else "solid",
            mode="lines+markers",
            marker={"size": 6},
            customdata=[written(cost) for cost in one.costs],
        )
        for one in lines
    ]
    sizes = sorted({size for one in lines for size in one.sizes})
    amounts = {"type": "log", "dtick": 1, "exponentformat": "SI", "ticksuffix": unit}
    return go.Figure(
        traces, headed(LINES_HEIGHT, heading) | {"xaxis": doubling_axis(size, sizes), "yaxis": axis() | amounts}
    )


def say_unsteady(ratio: float) -> None:
    """A warning where runs of the same work took times as different as this, the middle over the least."""
    if ratio > UNSTEADY:
        message = (
            "Something else kept this machine busy: of several runs of the same work, the median took {ratio:.1f} × as "
            "long as the fastest. The curves are rough; measure again when the machine is idle."
        )
        st.warning(_(message, ratio=ratio), icon=":material/timer:")
