"""Draw heads measured on pronouns: accuracies beside baselines, by group of sentences, and the model's own margins."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.pages.coreference.measured.findings import CHANCE, FIRST, MEAN_OF_HEADS, NEAREST
from viz.pictures.figures.matrix import ROW_HEIGHT, Scale, matrix
from viz.text.messages import _

HEIGHT: Final = 330
#: Margins smaller than this everywhere are drawn as the small ones they are.
MARGIN_FLOOR: Final = 0.01
#: The baselines by name, with their colours and dashes.
LINES: Final[Mapping[str, tuple[str, str]]] = {
    NEAREST: (theme.HEAD_COLOURS[1], "solid"),
    FIRST: (theme.HEAD_COLOURS[3], "dash"),
    CHANCE: (theme.HEAD_COLOURS[7], "dot"),
    MEAN_OF_HEADS: (theme.HEAD_COLOURS[5], "dashdot"),
}


def head_ladder(
    names: Sequence[str],
    value: Float[np.ndarray, "head"],
    low: Float[np.ndarray, "head"],
    high: Float[np.ndarray, "head"],
    baselines: Mapping[str, float],
) -> go.Figure:
    """Accuracy of every head with its interval, the best to the left, and the baselines as lines; names as `LINES`."""
    order = np.argsort(-value, kind="stable")
    ranked = [names[i] for i in order]
    points = go.Scatter(
        x=ranked,
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
        hovertemplate=_(
            "<b>{head}</b><br>accuracy {accuracy} ({low} to {high})",
            head="%{customdata[0]}",
            accuracy="%{y:.3f}",
            low="%{customdata[1]:.3f}",
            high="%{customdata[2]:.3f}",
        )
        + "<extra></extra>",
    )
    lines = [
        {"type": "line", "layer": "below", "xref": "paper", "x0": 0, "x1": 1, "y0": height, "y1": height}
        | {"line": {"color": LINES[name][0], "dash": LINES[name][1], "width": 2}}
        for name, height in baselines.items()
    ]
    return go.Figure(
        points,
        theme.figure_layout(HEIGHT)
        | {
            "xaxis": {
                # Of categories plotly names as many as have room beside one another, every second on a narrow page.
                "type": "category",
                "categoryorder": "array",
                "categoryarray": ranked,
                "tickangle": -90,
                "tickfont": {"size": 12},
                "range": [-0.8, len(order) - 0.2],
                "showgrid": False,
                "zeroline": False,
                "automargin": True,
            },
            "yaxis": {"title": {"text": _("accuracy")}, "tickformat": ".0%", "zeroline": False},
            # Across the whole picture, which of a single head has no two points to lead a line between.
            "shapes": lines,
        },
    )


def group_map(groups: Mapping[str, Float[np.ndarray, "layer head"]], names: Sequence[str]) -> go.Figure:
    """Accuracy in each group of sentences: a row a group, a column a head."""
    values = np.stack([of_group.ravel() for of_group in groups.values()])
    ticks = tuple((share, f"{share:.0%}") for share in (0.0, 0.25, 0.5, 0.75, 1.0))
    figure = matrix(
        values,
        values,
        [escape(group or _("(no group)"), quote=False) for group in groups],
        list(names),
        scale=Scale(_("accuracy"), theme.DIVERGING, 0.0, 1.0, ticks),
        hover=_(
            "<b>{group}</b>, <b>{head}</b><br>accuracy {share}", group="%{y}", head="%{x}", share="%{customdata:.1%}"
        ),
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
        hovertemplate=_("{sentence}<br>margin {margin} nats", sentence="%{customdata}", margin="%{y:+.2f}")
        + "<extra></extra>",
    )
    return go.Figure(
        [bars],
        theme.figure_layout(HEIGHT)
        | {
            "bargap": 0.15,
            "xaxis": {"title": {"text": _("sentence, by margin")}, "showgrid": False, "zeroline": False},
            "yaxis": {"title": {"text": _("log p(right) − log p(wrong)")}, "zeroline": True},
        },
    )


def _cut(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:119]}…"
