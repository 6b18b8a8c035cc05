"""Figures of the decoding page: steps and branches, what a hypothesis looked at, the cache, and what steps cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.pictures.figures.charts import LEGEND, row_labels, token_labels, whole_numbers
from viz.pictures.figures.heads import DIFFERENCE_FLOOR, WEIGHT_SCALE, Alignment, matrix, signed_scale
from viz.text.messages import _

CURVES_HEIGHT: Final = 300


@dataclass(frozen=True, slots=True)
class Written:
    """A translation: what it is called, its tokens, and the probability of each when it was written."""

    name: str
    tokens: tuple[str, ...]
    probabilities: tuple[float, ...]


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
