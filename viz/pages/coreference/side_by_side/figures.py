"""Draw what every head does with the pronouns of a pair, and how probable each German pronoun is."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.pictures.figures.head_map import frame_cells
from viz.pictures.figures.matrix import matrix, signed_scale
from viz.text.messages import _
from viz.text.numbers import signed
from viz.text.sites import head_numbers, layer_labels

#: Pixels of a layer, of the smallest map, and of a bar.
LAYER_HEIGHT, MIN_MAP_HEIGHT, BAR_HEIGHT = 42, 220, 22
#: With more heads than this, numbers no longer fit into the cells.
MAX_NUMBERED: Final = 12


def movement_map(
    values: Float[np.ndarray, "layer head"],
    parts: Float[np.ndarray, "layer head sentence candidate"],
    names: Sequence[str],
    *,
    number: str,
    averaged: bool,
    opened: tuple[int, int],
    bound: float,
) -> go.Figure:
    """Layer × head: warm where a head moves to the right antecedent, cold where it moves away. Cells can be clicked.

    Args:
        values: how far each head moves.
        parts: the weights that it is made of, on hover.
        names: of the heads, layer by layer, on hover.
        number: what a weight is called.
        averaged: whether the one column is all heads of a layer.
        opened: the layer and head to be framed.
        bound: the colours reach to ± this, the same for all attentions.
    """
    layers, heads = values.shape
    figure = matrix(
        values,
        values,
        layer_labels(layers),
        [_("all heads")] if averaged else head_numbers(heads),
        scale=signed_scale(_("movement"), values, floor=bound),
        hover="",
    )
    heatmap = figure.data[0]
    if heads <= MAX_NUMBERED:
        heatmap.update(text=[[signed(value) for value in row] for row in values], texttemplate="%{text}")
    heatmap.update(hoverinfo="skip", hovertemplate=None)
    figure.add_trace(_cells(values, parts, names, number))
    layer, head = opened
    frame_cells(figure, (layer, layer), (head, head), {"color": theme.HEAD_COLOURS[1], "width": 3})
    figure.update_layout(height=max(MIN_MAP_HEIGHT, layers * LAYER_HEIGHT + 60), xaxis_tickangle=0)
    return figure


def _cells(
    values: Float[np.ndarray, "layer head"],
    parts: Float[np.ndarray, "layer head sentence candidate"],
    names: Sequence[str],
    number: str,
) -> go.Scatter:
    """A transparent mark on each cell: plotly reports clicks on points, not on cells."""
    cells = list(np.ndindex(values.shape))
    return go.Scatter(
        x=[head for _, head in cells],
        y=[layer for layer, _ in cells],
        customdata=[
            [layer, head, name, signed(float(values[layer, head]), 4)]
            + [f"{part:.4f}" for part in parts[layer, head].ravel()]
            for (layer, head), name in zip(cells, names, strict=True)
        ],
        mode="markers",
        marker={"size": 40, "symbol": "square", "opacity": 0},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        xaxis="x2",
        yaxis="y2",
        hovertemplate="<br>".join(
            (
                "<b>%{customdata[2]}</b>",
                _("movement {value}", value="%{customdata[3]}"),
                _("{number} on antecedent / distractor", number=number),
                _("first sentence {values}", values="%{customdata[4]} / %{customdata[5]}"),
                _("second sentence {values}", values="%{customdata[6]} / %{customdata[7]}"),
            )
        )
        + "<extra></extra>",
    )


def form_bars(probabilities: Mapping[str, float], written: str) -> go.Figure:
    """How probable each German pronoun is at one step; the one that is written is dark and says so."""
    forms = list(probabilities)
    plain = [escape(form, quote=False) for form in forms]
    labels = [f"<b>{text}</b>" if form == written else text for form, text in zip(forms, plain, strict=True)]
    figure = go.Figure(
        go.Bar(
            x=list(probabilities.values()),
            y=list(range(len(forms))),
            orientation="h",
            marker={"color": [theme.HEAD_COLOURS[0 if form == written else 7] for form in forms]},
            text=[
                _("{value:.3f} written", value=value) if form == written else f"{value:.3f}"
                for form, value in probabilities.items()
            ],
            textposition="outside",
            cliponaxis=False,
            customdata=labels,
            hovertemplate=_("{form}: probability {value}", form="%{customdata}", value="%{x:.4f}") + "<extra></extra>",
        ),
        theme.figure_layout(len(forms) * BAR_HEIGHT + 16),
    )
    figure.update_xaxes(range=[0, 1.8], visible=False, fixedrange=True)
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(forms))),
        ticktext=labels,
        tickfont={"size": 14},
        range=[len(forms) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
        ticks="",
        automargin=True,
        fixedrange=True,
    )
    return figure


def mark_columns(figure: go.Figure, columns: Sequence[int], *, rows: int, colour: str, dash: str) -> None:
    """Frame columns of a matrix, each run of neighbours as one."""
    starts = [column for column in columns if column - 1 not in columns]
    ends = [column for column in columns if column + 1 not in columns]
    for start, end in zip(starts, ends, strict=True):
        frame_cells(figure, (0, rows - 1), (start, end), {"color": colour, "width": 2, "dash": dash})
