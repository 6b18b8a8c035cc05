"""What each word is worth alone and to each method, as a map, and the deletion test as lines."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.pictures.figures.axes import token_labels, whole_numbers
from viz.pictures.figures.charts import LEGEND
from viz.pictures.figures.matrix import Scale, matrix
from viz.text.messages import _, said

if TYPE_CHECKING:
    from model.analysis.attribution.methods import Method
    from viz.access.attribution import Explained

HEIGHT: Final = 360
#: Each row has a scale of its own, for methods have units of their own.
_SCALE: Final = Scale(
    said("relative to the row's maximum"),
    theme.DIVERGING,
    -1.0,
    1.0,
    ((-1.0, "−1"), (-0.5, "−½"), (0.0, "0"), (0.5, "½"), (1.0, "1")),
)


def word_map(explained: "Explained", names: "Mapping[Method, str]") -> go.Figure:
    """A column a word, a row for each hidden alone and for each method; warm where it speaks for the choice."""
    values = np.stack([explained.alone.losses, *explained.scores.values()])
    largest = np.abs(values).max(1, keepdims=True)
    colours = values / np.where(largest > 0, largest, 1)
    hover = "<b>%{x}</b><br>%{y}: %{customdata:.4f}"
    rows = [_("Hidden alone"), *(names[method] for method in explained.scores)]
    scale = replace(_SCALE, title=_(_SCALE.title))
    return matrix(values, colours, rows, token_labels(explained.words), scale=scale, hover=hover)


def deletion_lines(explained: "Explained", names: "Mapping[Method, str]", choice: str) -> go.Figure:
    """The choice over the number of words hidden: a line a method, and the range of random orders."""
    random = np.stack([drawn.values for drawn in explained.random])
    hidden = list(range(random.shape[1]))
    grey = theme.HEAD_COLOURS[7]
    band = go.Scatter(
        x=[*hidden, *reversed(hidden)],
        y=[*random.max(0), *random.min(0)[::-1]],
        mode="lines",
        fill="toself",
        fillcolor=f"{grey}2e",
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )
    mean = _line(hidden, random.mean(0), _("random orders, mean"), {"color": grey, "width": 2, "dash": "dot"})
    lines = [
        _line(
            hidden,
            deletion.values,
            names[method],
            {"color": theme.HEAD_COLOURS[number], "width": 3.5 if method == explained.best else 1.75},
        )
        for number, (method, deletion) in enumerate(explained.deletions.items())
    ]
    axes = {
        "xaxis": {"title": {"text": _("words hidden")}, "zeroline": False, "showgrid": False}
        | whole_numbers(hidden[-1]),
        "yaxis": {"title": {"text": choice}},
        "showlegend": True,
        "legend": LEGEND,
    }
    return go.Figure([band, mean, *lines], theme.figure_layout(HEIGHT) | axes)


def _line(hidden: Sequence[int], values: Float[np.ndarray, "hidden"], name: str, line: theme.PlotlySpec) -> go.Scatter:
    return go.Scatter(
        x=hidden,
        y=values,
        mode="lines",
        name=name,
        line=line,
        hovertemplate=_("{method}<br>{count} words hidden: {value} nats", method=name, count="%{x}", value="%{y:.2f}")
        + "<extra></extra>",
    )
