"""The difference from the full model as points, one for each seed."""

from collections.abc import Sequence

import plotly.graph_objects as go

from viz import theme
from viz.pages.why_attention.ablations.data.measured import Row
from viz.pages.why_attention.ablations.texts import label, signed
from viz.pages.why_attention.charts import axis, headed, upright
from viz.text.messages import _

ROW, REST = 24, 66
SEED, CLAIMED, PAPER = theme.HEAD_COLOURS[0], theme.HEAD_COLOURS[1], theme.HEAD_COLOURS[2]


def seed_points(rows: Sequence[Row], dev_set: str) -> go.Figure:
    """A point for each seed's difference in BLEU from the full model, the first model on top; what others say below it.

    Args:
        rows: of the table; the full model's own has no points.
        dev_set: on which BLEU was measured.
    """
    shown = [row for row in rows if dev_set in row.sets and row.sets[dev_set].differences]
    names = [label(row.preset) for row in shown]
    seeds = [
        (value, name, _("seed {seed}: {value}", seed=seed, value=signed(value)))
        for row, name in zip(shown, names, strict=True)
        for seed, value in row.sets[dev_set].differences.items()
    ]
    others = [
        [
            (value, name, f"{source}: {signed(value)}")
            for value, name in zip(values, names, strict=True)
            if value is not None
        ]
        for source, values in (
            (_("often claimed"), [row.claimed for row in shown]),
            (_("Table 3"), [row.paper for row in shown]),
        )
    ]
    marks = (("circle", SEED), ("diamond-open", CLAIMED), ("square-open", PAPER))
    traces = [_points(points, *mark) for points, mark in zip([seeds, *others], marks, strict=True)]
    names_axis = axis() | {"type": "category", "categoryarray": names[::-1], "automargin": True, "ticksuffix": "  "}
    return go.Figure(
        traces,
        headed(len(names) * ROW + REST, _("<b>BLEU</b> less the full model's, {set}", set=dev_set))
        | {"xaxis": axis(), "yaxis": names_axis | {"range": [-0.6, len(names) - 0.4]}, "shapes": [upright(0)]},
    )


def _points(points: Sequence[tuple[float, str, str]], symbol: str, colour: str) -> go.Scatter:
    return go.Scatter(
        x=[value for value, _, _ in points],
        y=[name for _, name, _ in points],
        customdata=[text for _, _, text in points],
        mode="markers",
        marker={"symbol": symbol, "color": colour, "size": 9, "opacity": 0.85, "line": {"width": 1.5, "color": colour}},
        hovertemplate="<b>%{y}</b><br>%{customdata}<extra></extra>",
    )
