"""Figures of the decoding page: steps and branches, what a hypothesis looked at, the cache, and what steps cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float, Int, UInt8

from viz import theme
from viz.pictures.figures.charts import LEGEND, row_labels, token_labels, upright, whole_numbers
from viz.pictures.figures.heads import (
    DIFFERENCE_FLOOR,
    ROW_HEIGHT,
    WEIGHT_SCALE,
    Alignment,
    Scale,
    matrix,
    signed_scale,
)
from viz.pictures.figures.traces import line
from viz.text.messages import _, said, shown
from viz.text.written import amount

if TYPE_CHECKING:
    from model import StepCost

CURVES_HEIGHT: Final = 300


@dataclass(frozen=True, slots=True)
class Written:
    """A translation: what it is called, its tokens, and the probability of each when it was written."""

    name: str
    tokens: tuple[str, ...]
    probabilities: tuple[float, ...]


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


def probability_curves(shown: Written, other: Written, leaves_at: int | None) -> go.Figure:
    """Probability of each token by step; a dashed line marks where the two translations diverge."""
    figure = go.Figure(layout=theme.figure_layout(CURVES_HEIGHT))
    at_step = _("step {step}, probability {probability}", step="%{x}", probability="%{y:.4f}")
    for written, colour, dash, symbol in (
        (other, theme.ORANGE, "dot", "circle-open"),
        (shown, theme.BLUE, "solid", "circle"),
    ):
        figure.add_trace(
            go.Scatter(
                x=list(range(1, len(written.tokens) + 1)),
                y=list(written.probabilities),
                customdata=token_labels(written.tokens),
                name=escape(written.name, quote=False),
                mode="lines+markers",
                line={"color": colour, "width": 2, "dash": dash},
                marker={"size": 7, "symbol": symbol},
                hovertemplate=f"<b>%{{customdata}}</b><br>{at_step}<extra>%{{fullData.name}}</extra>",
            )
        )
    if leaves_at is not None:
        figure.add_vline(x=leaves_at + 0.5, line={"color": theme.GREY, "width": 1, "dash": "dash"})
    most = max(len(shown.tokens), len(other.tokens))
    figure.update_xaxes(whole_numbers(most), title_text=_("step"), zeroline=False, showgrid=False)
    figure.update_yaxes(title_text=_("probability"), range=[-0.03, 1.03], zeroline=False)
    figure.update_layout(showlegend=True, legend=LEGEND, hovermode="closest")
    return figure


def attention_difference(
    difference: Float[np.ndarray, "row column"],
    row_names: Sequence[str],
    column_tokens: Sequence[str],
    *,
    rows_write: bool,
) -> go.Figure:
    """Between tokens that both translations have: warm where the one shown has more weight, cold where less."""
    return matrix(
        difference,
        difference,
        row_labels(row_names, rows_write=rows_write),
        token_labels(column_tokens),
        scale=signed_scale(_("difference"), difference, floor=DIFFERENCE_FLOOR),
        hover=_("{row} attends to {key}", row="<b>%{y}</b>", key="<b>%{x}</b>")
        + "<br>"
        + _("difference {value}", value="%{customdata:+.4f}"),
    )


def common_difference(
    shown: Float[np.ndarray, "row_1 column_1"],
    other: Float[np.ndarray, "row_2 column_2"],
    rows: Alignment,
    columns: Alignment,
) -> Float[np.ndarray, "row column"]:
    """Shown minus other, for the rows and columns that both have; the first of each pair is the one shown."""
    ours = shown[np.ix_(rows.first, columns.first)]
    difference: np.ndarray = ours - other[np.ix_(rows.second, columns.second)]
    return difference


def ancestor_heatmap(
    weights: Float[np.ndarray, "row key"],
    row_names: Sequence[str],
    batch_rows: Sequence[int],
    key_tokens: Sequence[str],
) -> go.Figure:
    """Weights from 0 to 1 of one head along a hypothesis' own ancestors: a row a token written, a column a key.

    `row_names` are what each row read and wrote, `batch_rows` the row of the batch, from 0, that computed each.
    """
    pairs = zip(row_labels(row_names, rows_write=True), batch_rows, strict=True)
    labels = [_("{name} · row {row}", name=name, row=row + 1) for name, row in pairs]
    looks_at = _("attends to {key}", key="<b>%{x}</b>")
    weight = _("weight {weight}", weight="%{customdata:.4f}")
    return matrix(
        weights,
        np.sqrt(weights),
        labels,
        token_labels(key_tokens),
        scale=WEIGHT_SCALE,
        hover=f"<b>%{{y}}</b><br>{looks_at}<br>{weight}",
    )


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
