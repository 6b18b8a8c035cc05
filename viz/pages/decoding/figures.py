"""Two translations of one sentence side by side, and what an edit of a head does."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.pictures.figures.axes import column_axis, full_axis, token_labels, whole_numbers
from viz.pictures.figures.comparison import DIFFERENCE_FLOOR, Alignment
from viz.pictures.figures.matrix import matrix, signed_scale
from viz.text.messages import _
from viz.text.sites import head_numbers, layer_labels

CURVES_HEIGHT, BARS_HEIGHT = 300, 290
#: Changes of a log-probability smaller than this everywhere are drawn as the small changes they are.
CHANGE_FLOOR = 0.1


@dataclass(frozen=True, slots=True)
class Written:
    """A translation: what it is called, its tokens, and the probability of each when it was written."""

    name: str
    tokens: tuple[str, ...]
    probabilities: tuple[float, ...]


def probability_curves(shown: Written, other: Written, leaves_at: int | None) -> go.Figure:
    """How probable each token was, step by step; a line stands where the one leaves the other."""
    figure = go.Figure(layout=theme.figure_layout(CURVES_HEIGHT))
    at_step = _("step {step}, probability {probability}", step="%{x}", probability="%{y:.4f}")
    for written, colour, dash, symbol in (
        (other, theme.HEAD_COLOURS[1], "dot", "circle-open"),
        (shown, theme.HEAD_COLOURS[0], "solid", "circle"),
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
        figure.add_vline(x=leaves_at + 0.5, line={"color": theme.HEAD_COLOURS[7], "width": 1, "dash": "dash"})
    most = max(len(shown.tokens), len(other.tokens))
    figure.update_xaxes(whole_numbers(most), title_text=_("step"), zeroline=False, showgrid=False)
    figure.update_yaxes(title_text=_("probability"), range=[-0.03, 1.03], zeroline=False)
    figure.update_layout(
        showlegend=True, legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}, hovermode="closest"
    )
    return figure


def attention_difference(
    difference: Float[np.ndarray, "row column"], row_tokens: Sequence[str], column_tokens: Sequence[str]
) -> go.Figure:
    """Between tokens that both translations have: warm where the one shown has more weight, cold where less."""
    return matrix(
        difference,
        difference,
        token_labels(row_tokens),
        token_labels(column_tokens),
        scale=signed_scale(_("difference"), difference, floor=DIFFERENCE_FLOOR),
        hover=_("{row} looks at {key}", row="<b>%{y}</b>", key="<b>%{x}</b>")
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


def row_before_after(
    before: Float[np.ndarray, "key"], after: Float[np.ndarray, "key"], key_tokens: Sequence[str]
) -> go.Figure:
    """One row of a head as two bars for each token: as it was, and as it is under the edit."""
    labels = token_labels(key_tokens)
    figure = go.Figure(layout=theme.figure_layout(BARS_HEIGHT))
    for name, weight, values, colour in (
        (_("before"), _("weight before {weight}", weight="%{y:.4f}"), before, theme.HEAD_COLOURS[1]),
        (_("after"), _("weight after {weight}", weight="%{y:.4f}"), after, theme.HEAD_COLOURS[0]),
    ):
        figure.add_trace(
            go.Bar(
                x=list(range(len(labels))),
                y=values.tolist(),
                name=name,
                marker={"color": colour},
                xaxis="x2",
                hovertemplate=f"<b>%{{x}}</b><br>{weight}<extra></extra>",
            )
        )
    # An axis without a trace is not drawn.
    figure.add_trace(go.Scatter(x=[None], y=[None], hoverinfo="skip", showlegend=False))
    top = max(float(before.max(initial=0)), float(after.max(initial=0)), 0.05)
    figure.update_layout(
        barmode="group",
        bargap=0.25,
        xaxis=column_axis(labels),
        xaxis2=full_axis(labels, shares="x"),
        yaxis={"title": {"text": _("weight")}, "range": [0, top * 1.06], "zeroline": False},
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    )
    return figure


def effects_map(changes: Float[np.ndarray, "layer head"]) -> go.Figure:
    """What switching off each single head does to the log-probability of a token: cold where it falls."""
    layers, heads = changes.shape
    figure = matrix(
        changes,
        changes,
        layer_labels(layers),
        head_numbers(heads),
        scale=signed_scale("Δ log p", changes, floor=CHANGE_FLOOR),
        hover=_("{head} switched off", head="<b>%{y} %{x}</b>") + "<br>Δ log p %{customdata:+.4f}",
    )
    return figure.update_layout(xaxis_tickangle=0)
