"""Figures of heads measured on pronouns: maps, ladders, margins, two rankings. Knows nothing of how they are measured.

Layers and heads are labelled from 1; "3·2" is head 2 of layer 3.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz.core import theme
from viz.core.sites import CROSS, DECODER, ENCODER
from viz.figures.matrix import ROW_HEIGHT, Scale, matrix

#: Deviations smaller than these everywhere are drawn as the small ones they are.
ACCURACY_FLOOR, MARGIN_FLOOR, CHANGE_FLOOR = 0.1, 0.01, 0.05
HEIGHT: Final = 330
#: The baselines by name, with their colours and dashes.
LINES: Final = {
    "nearest candidate": (theme.HEAD_COLOURS[1], "solid"),
    "first candidate": (theme.HEAD_COLOURS[3], "dash"),
    "chance": (theme.HEAD_COLOURS[7], "dot"),
    "mean of all heads": (theme.HEAD_COLOURS[5], "dashdot"),
}
SITE_COLOURS: Final = {
    ENCODER: theme.HEAD_COLOURS[0],
    DECODER: theme.HEAD_COLOURS[2],
    CROSS: theme.HEAD_COLOURS[1],
}


def short_names(layers: int, heads: int, *, averaged: bool = False) -> list[str]:
    """Every head as "layer·head", in the order of a table [layer, head]; where heads are averaged, "layer 3"."""
    if averaged:
        return [f"layer {layer + 1}" for layer in range(layers)]
    return [f"{layer + 1}·{head + 1}" for layer in range(layers) for head in range(heads)]


def head_map(
    values: Float[np.ndarray, "layer head"],
    *,
    title: str,
    centre: float,
    floor: float,
    number: str = ".3f",
    averaged: bool = False,
    marked: tuple[int, int] | None = None,
) -> go.Figure:
    """A site's heads, a row a layer: warm above the centre, cold below it.

    Args:
        values: NaN where a head has none.
        title: what the number is called.
        centre: the number that is drawn dark.
        floor: the scale reaches at least so far from the centre.
        number: how a number is written on hover.
        averaged: whether the one column is the mean of heads.
        marked: layer and head that are framed.
    """
    layers, heads = values.shape
    found = np.abs(values - centre)
    bound = max(floor, float(np.nanmax(found)) if not np.isnan(found).all() else 0.0)
    sign = "+" if centre == 0 else ""
    places = "2f" if bound >= 0.05 else "3f"
    ticks = tuple(
        (at, f"{at:{sign if at else ''}.{places}}") for at in (centre + bound * k / 2 for k in (-2, -1, 0, 1, 2))
    )
    columns = ["all"] if averaged else [str(head + 1) for head in range(heads)]
    figure = matrix(
        values,
        values,
        [f"Layer {layer + 1}" for layer in range(layers)],
        columns,
        scale=Scale(title, theme.DIVERGING, centre - bound, centre + bound, ticks),
        hover=f"<b>%{{y}}</b>, head <b>%{{x}}</b><br>{title} %{{customdata:{sign}{number}}}",
    )
    if marked is not None:
        layer, head = marked
        box = {"x0": head - 0.5, "x1": head + 0.5, "y0": layer - 0.5, "y1": layer + 0.5}
        figure.add_shape(type="rect", line={"color": theme.HEAD_COLOURS[2], "width": 3}, **box)
    # A colour bar with five labels needs some height, however few layers there are.
    figure.update_layout(height=max(190, layers * 30 + 40), xaxis={"tickangle": 0})
    return figure


def head_ladder(
    names: Sequence[str],
    value: Float[np.ndarray, "head"],
    low: Float[np.ndarray, "head"],
    high: Float[np.ndarray, "head"],
    baselines: Mapping[str, float],
) -> go.Figure:
    """Accuracy of every head with its interval, the best to the left, and the baselines as lines; names as `LINES`."""
    order = np.argsort(-value, kind="stable")
    places = np.arange(len(order))
    points = go.Scatter(
        x=places,
        y=value[order],
        mode="markers",
        marker={"size": 8, "color": theme.HEAD_COLOURS[0]},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": (high - value)[order],
            "arrayminus": (value - low)[order],
            "thickness": 1.5,
            "width": 3,
            "color": theme.HEAD_COLOURS[4],
        },
        customdata=[[names[i], low[i], high[i]] for i in order],
        hovertemplate="<b>%{customdata[0]}</b><br>accuracy %{y:.3f} (%{customdata[1]:.3f} to %{customdata[2]:.3f})"
        "<extra></extra>",
    )
    lines = [
        go.Scatter(
            x=[-0.7, len(order) - 0.3],
            y=[height, height],
            mode="lines",
            line={"color": LINES[name][0], "dash": LINES[name][1], "width": 2},
            hovertemplate=f"{name} {height:.3f}<extra></extra>",
        )
        for name, height in baselines.items()
    ]
    return go.Figure(
        [*lines, points],
        theme.figure_layout(HEIGHT)
        | {
            "xaxis": {
                "tickvals": places.tolist(),
                "ticktext": [names[i] for i in order],
                "tickangle": -90,
                "tickfont": {"size": 11},
                "range": [-0.8, len(order) - 0.2],
                "showgrid": False,
                "zeroline": False,
                "automargin": True,
            },
            "yaxis": {"title": {"text": "accuracy"}, "tickformat": ".0%", "zeroline": False},
        },
    )


def group_map(groups: Mapping[str, Float[np.ndarray, "layer head"]], names: Sequence[str]) -> go.Figure:
    """Accuracy in each group of sentences: a row a group, a column a head."""
    values = np.stack([of_group.ravel() for of_group in groups.values()])
    ticks = tuple((share, f"{share:.0%}") for share in (0.0, 0.25, 0.5, 0.75, 1.0))
    figure = matrix(
        values,
        values,
        [escape(group or "(no group)", quote=False) for group in groups],
        list(names),
        scale=Scale("accuracy", theme.DIVERGING, 0.0, 1.0, ticks),
        hover="<b>%{y}</b>, head <b>%{x}</b><br>accuracy %{customdata:.1%}",
    )
    figure.update_layout(height=max(190, len(groups) * ROW_HEIGHT + 90))
    return figure


def margin_bars(margins: Float[np.ndarray, "row"], sentences: Sequence[str]) -> go.Figure:
    """How far the model prefers the right pronoun in each sentence, from the least to the most; wrong ones orange."""
    order = np.argsort(margins, kind="stable")
    right, wrong = theme.HEAD_COLOURS[0], theme.HEAD_COLOURS[1]
    bars = go.Bar(
        x=np.arange(1, len(order) + 1),
        y=margins[order],
        marker={"color": [right if margins[i] > 0 else wrong for i in order]},
        customdata=[escape(_cut(sentences[i]), quote=False) for i in order],
        hovertemplate="%{customdata}<br>margin %{y:+.2f} nats<extra></extra>",
    )
    return go.Figure(
        [bars],
        theme.figure_layout(HEIGHT)
        | {
            "bargap": 0.15,
            "xaxis": {"title": {"text": "sentence, by margin"}, "showgrid": False, "zeroline": False},
            "yaxis": {"title": {"text": "log p(right) − log p(wrong)"}, "zeroline": True},
        },
    )


def two_figures(
    first: Float[np.ndarray, "site layer head"],
    second: Float[np.ndarray, "site layer head"],
    sites: Sequence[str],
    titles: tuple[str, str],
) -> go.Figure:
    """Two figures of the same heads against each other: a point a head, a colour a site; dashed where equal."""
    _, layers, heads = first.shape
    names = short_names(layers, heads)
    points = [
        go.Scatter(
            x=first[place].ravel(),
            y=second[place].ravel(),
            mode="markers",
            marker={"size": 8, "color": SITE_COLOURS[site], "opacity": 0.85},
            customdata=names,
            hovertemplate=f"<b>{site} %{{customdata}}</b><br>{titles[0]} %{{x:.3f}}<br>{titles[1]} %{{y:.3f}}"
            "<extra></extra>",
        )
        for place, site in enumerate(sites)
    ]
    most = float(np.nanmax(np.stack([first, second]), initial=0.0))
    same = go.Scatter(
        x=[0, most],
        y=[0, most],
        mode="lines",
        line={"color": theme.HEAD_COLOURS[7], "dash": "dash", "width": 1.5},
        hoverinfo="skip",
    )
    axes = {
        "xaxis": {"title": {"text": titles[0]}, "zeroline": False},
        "yaxis": {"title": {"text": titles[1]}, "zeroline": False},
    }
    return go.Figure([same, *points], theme.figure_layout(HEIGHT) | axes)


def _cut(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:119]}…"
