"""Figures of what steps cost: the blocks of the cache, the parts of a step, and the curves of all."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Int, UInt8

from viz import theme
from viz.pictures.figures.charts import token_labels, upright, whole_numbers
from viz.pictures.figures.heads import ROW_HEIGHT, Scale, matrix
from viz.pictures.figures.traces import line
from viz.text.messages import _, said, shown
from viz.text.written import amount

if TYPE_CHECKING:
    from model import StepCost

#: What can be said of the keys and values of one position in one layer, by its code.
LATER, REUSED, COMPUTED = range(3)
STATES: Final = (said("not there yet"), said("reused from the cache"), said("computed in this step"))
COLOURS: Final = (f"{theme.GREY}33", theme.BLUE, theme.ORANGE)
_SCALE: Final = Scale("", COLOURS, LATER, COMPUTED, ())
#: The two ways to decode, by their names and colours.
CACHED, RECOMPUTED = said("with the cache"), said("recomputed")
WAY_COLOURS: Final = {CACHED: theme.BLUE, RECOMPUTED: theme.ORANGE}
LABEL_HEIGHT: Final = 84
HEIGHT: Final = 330


def target_states(cost: "StepCost", rows: int) -> UInt8[np.ndarray, "position"]:
    """The states of the target's positions in a step: those before are reused, and its own computed."""
    positions, known = np.arange(rows), cost.reused_target_rows
    computed = known + cost.new_target_rows
    return np.where(positions < known, REUSED, np.where(positions < computed, COMPUTED, LATER)).astype(np.uint8)


def source_states(step: int, positions: int) -> UInt8[np.ndarray, "position"]:
    """The states of the source's positions: all are computed in the first step, and reused from then on."""
    return np.full(positions, REUSED if step else COMPUTED, np.uint8)


def cache_blocks(states: UInt8[np.ndarray, "position"], tokens: Sequence[str], num_layers: int) -> go.Figure:
    """The keys and values of each position in each layer, a block each, in the colour of its state."""
    rows = np.broadcast_to(states, (num_layers, len(states)))
    labels = [_("Layer {number}", number=layer + 1) for layer in range(num_layers)]
    hover = "<b>%{x}</b>, %{y}<br>" + _("key and value: {state}", state="%{customdata}")
    figure = matrix(
        np.array([_(state) for state in STATES])[rows], rows, labels, token_labels(tokens), scale=_SCALE, hover=hover
    )
    figure.data[0].showscale = False
    figure.update_layout(height=num_layers * ROW_HEIGHT + LABEL_HEIGHT)
    return figure


def part_bars(parts: Mapping[str, tuple[int, int]]) -> go.Figure:
    """Multiply-adds of one step, name of a part → (with the cache, recomputed), as bars below one another."""
    # On two lines, which leave a narrow chart room for its bars.
    names = [name.replace(": ", ":<br>").replace("：", "：<br>") for name in parts]
    count = _("{count} multiply-adds", count="%{x:,}")
    bars = [
        go.Bar(
            x=[values[way] for values in parts.values()],
            y=names,
            orientation="h",
            name=shown(name),
            marker={"color": colour},
            text=[amount(values[way]) for values in parts.values()],
            textposition="outside",
            cliponaxis=False,
            hovertemplate=f"%{{y}}, {shown(name)}<br>{count}<extra></extra>",
        )
        for way, (name, colour) in enumerate(WAY_COLOURS.items())
    ]
    largest = max(max(values) for values in parts.values())
    layout = theme.figure_layout(HEIGHT)
    return go.Figure(
        bars,
        layout
        | {
            # Room for the number at the end of the longest bar, however narrow the chart.
            "margin": layout["margin"] | {"r": 56},
            "barmode": "group",
            "bargap": 0.28,
            "yaxis": {"autorange": "reversed", "automargin": True, "ticks": "", "ticksuffix": "  ", "showgrid": False},
            "xaxis": _count_axis() | {"range": [0, largest]},
        },
    )


def cost_curve(
    cached: Int[np.ndarray, "step"], recomputed: Int[np.ndarray, "step"], step: int, tokens: Sequence[str]
) -> go.Figure:
    """Multiply-adds of every step, with the cache and recomputed; the chosen step has a line."""
    labels = token_labels(tokens)
    numbers = np.arange(1, len(cached) + 1)
    at_step = _("step {step}, writes {token}", step="%{x}", token="<b>%{customdata}</b>")
    lines = [
        line(
            numbers,
            values,
            WAY_COLOURS[name],
            f"{at_step}<br>{shown(name)}: %{{y:,}}",
            name=shown(name),
            mode="lines+markers" if len(values) <= 60 else "lines",
            marker={"size": 6},
            customdata=labels,
        )
        for name, values in ((CACHED, cached), (RECOMPUTED, recomputed))
    ]
    figure = go.Figure(
        lines,
        theme.figure_layout(HEIGHT)
        | {
            "yaxis": _count_axis() | {"rangemode": "tozero"},
            "xaxis": {"title": {"text": _("step")}, "zeroline": False, "showgrid": False} | whole_numbers(len(cached)),
        },
    )
    figure.add_shape(upright(step + 1))
    return figure


def _count_axis() -> theme.PlotlySpec:
    return {"title": {"text": _("multiply-adds")}, "zeroline": False, "exponentformat": "SI", "nticks": 6}
