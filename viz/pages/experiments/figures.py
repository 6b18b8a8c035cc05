"""Figures of the page: BLEU by seed, and BLEU with a part taken out."""

from collections.abc import Sequence

import plotly.graph_objects as go

from viz import theme
from viz.pages.experiments.data.ablations import Row
from viz.pages.experiments.wording import label
from viz.pictures.figures.charts import axis, headed, upright
from viz.pictures.figures.traces import dots
from viz.text.messages import _
from viz.text.written import signed

ROW, REST = 24, 66
SEED, PAPER = theme.BLUE, theme.GREEN
BAR_ROW, BAR_REST = 30, 66


def seed_points(rows: Sequence[Row], dev_set: str) -> go.Figure:
    """A point for each seed's difference in BLEU from the full model, the first model on top, and Table 3's."""
    shown = [row for row in rows if dev_set in row.sets and row.sets[dev_set].differences]
    names = [label(row.preset) for row in shown]
    seeds = [
        (value, name, _("seed {seed}: {value}", seed=seed, value=signed(value, 1)))
        for row, name in zip(shown, names, strict=True)
        for seed, value in row.sets[dev_set].differences.items()
    ]
    paper = [
        (row.paper, name, f"{_('Table 3')}: {signed(row.paper, 1)}")
        for row, name in zip(shown, names, strict=True)
        if row.paper is not None
    ]
    traces = [_points(seeds, "circle", SEED), _points(paper, "square-open", PAPER)]
    names_axis = axis() | {"type": "category", "categoryarray": names[::-1], "automargin": True, "ticksuffix": "  "}
    return go.Figure(
        traces,
        headed(len(names) * ROW + REST, _("<b>BLEU</b> minus the full model's, {set}", set=dev_set))
        | {"xaxis": axis(), "yaxis": names_axis | {"range": [-0.6, len(names) - 0.4]}, "shapes": [upright(0)]},
    )


def _points(points: Sequence[tuple[float, str, str]], symbol: str, colour: str) -> go.Scatter:
    values, names, texts = zip(*points, strict=True) if points else ((), (), ())
    marker = {"symbol": symbol, "color": colour, "size": 9, "opacity": 0.85, "line": {"width": 1.5, "color": colour}}
    return dots(values, names, marker, "<b>%{y}</b><br>%{customdata}", customdata=texts)


def bleu_bars(names: Sequence[str], bleu: Sequence[float], unchanged: Sequence[float]) -> go.Figure:
    """A bar for each part that was taken out, the first on top; the whole model would have 100."""
    bars = go.Bar(
        x=list(bleu),
        y=list(names),
        orientation="h",
        marker={"color": theme.BLUE, "line": {"width": 0}},
        text=[f"{value:.1f}" for value in bleu],
        textposition="outside",
        cliponaxis=False,
        customdata=[f"{share:.0%}" for share in unchanged],
        hovertemplate=_("%{y}<br>BLEU %{x:.1f}<br>%{customdata} of the translations unchanged") + "<extra></extra>",
    )
    layout = headed(len(names) * BAR_ROW + BAR_REST, _("<b>BLEU</b> against the full model's own translations"))
    names_axis = axis() | {"autorange": "reversed", "automargin": True, "ticksuffix": "  ", "showgrid": False}
    return go.Figure(bars, layout | {"bargap": 0.35, "yaxis": names_axis, "xaxis": axis() | {"range": [0, 108]}})
