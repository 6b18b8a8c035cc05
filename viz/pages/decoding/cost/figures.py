"""The key/value cache as blocks, and what a step costs with it and without."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Int, UInt8

from viz import theme
from viz.pictures.figures.axes import token_labels, whole_numbers
from viz.pictures.figures.matrix import ROW_HEIGHT, Scale, matrix
from viz.text.messages import _, said, shown

if TYPE_CHECKING:
    from model import StepCost

#: What can be said of the keys and values of one position in one layer, by its code.
LATER, REUSED, COMPUTED = range(3)
STATES: Final = (said("not there yet"), said("reused from the cache"), said("computed in this step"))
COLOURS: Final = (f"{theme.HEAD_COLOURS[7]}33", theme.HEAD_COLOURS[0], theme.HEAD_COLOURS[1])
_SCALE: Final = Scale("", COLOURS, LATER, COMPUTED, ())
#: The two ways to decode, by their names and colours.
CACHED, RECOMPUTED = said("with the cache"), said("recomputed")
WAY_COLOURS: Final = {CACHED: theme.HEAD_COLOURS[0], RECOMPUTED: theme.HEAD_COLOURS[1]}
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
    names = list(parts)
    count = _("{count} multiply-adds", count="%{x:,}")
    bars = [
        go.Bar(
            x=[values[way] for values in parts.values()],
            y=names,
            orientation="h",
            name=shown(name),
            marker={"color": colour},
            text=[rounded(values[way]) for values in parts.values()],
            textposition="outside",
            cliponaxis=False,
            hovertemplate=f"%{{y}}, {shown(name)}<br>{count}<extra></extra>",
        )
        for way, (name, colour) in enumerate(WAY_COLOURS.items())
    ]
    largest = max(max(values) for values in parts.values())
    return go.Figure(
        bars,
        theme.figure_layout(HEIGHT)
        | {
            "barmode": "group",
            "bargap": 0.28,
            "yaxis": {"autorange": "reversed", "automargin": True, "ticks": "", "ticksuffix": "  ", "showgrid": False},
            # Room for the number at the end of the longest bar.
            "xaxis": _count_axis() | {"range": [0, largest * 1.22]},
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
        go.Scatter(
            x=numbers,
            y=values,
            name=shown(name),
            mode="lines+markers" if len(values) <= 60 else "lines",
            line={"color": WAY_COLOURS[name], "width": 2.5},
            marker={"size": 6},
            customdata=labels,
            hovertemplate=f"{at_step}<br>{shown(name)}: %{{y:,}}<extra></extra>",
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
    figure.add_vline(x=step + 1, line={"color": theme.HEAD_COLOURS[7], "width": 1.5, "dash": "dot"})
    return figure


def rounded(count: int) -> str:
    """A count as people read it, with three digits and more: 940, 10.2 k, 5.77 M, 603 M, 13.4 G."""
    if count < 1_000:
        return str(count)
    if count < 1_000_000:
        return f"{count / 1e3:.1f} k"
    if count < 1_000_000_000:
        return f"{count / 1e6:.2f} M" if count < 99_500_000 else f"{count / 1e6:.0f} M"
    return f"{count / 1e9:,.1f} G"


def _count_axis() -> theme.PlotlySpec:
    return {"title": {"text": _("multiply-adds")}, "zeroline": False, "exponentformat": "SI", "nticks": 6}
