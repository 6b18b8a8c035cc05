"""BLEU without each part, as bars."""

from collections.abc import Sequence

import plotly.graph_objects as go

from viz import theme
from viz.pages.why_attention.charts import axis, headed
from viz.text.messages import _

ROW, REST = 30, 66


def bleu_bars(names: Sequence[str], bleu: Sequence[float], unchanged: Sequence[float]) -> go.Figure:
    """A bar for each part that was taken out, the first on top; the whole model would have 100."""
    bars = go.Bar(
        x=list(bleu),
        y=list(names),
        orientation="h",
        marker={"color": theme.HEAD_COLOURS[0], "line": {"width": 0}},
        text=[f"{value:.1f}" for value in bleu],
        textposition="outside",
        cliponaxis=False,
        customdata=[f"{share:.0%}" for share in unchanged],
        hovertemplate=_("%{y}<br>BLEU %{x:.1f}<br>%{customdata} of the translations unchanged") + "<extra></extra>",
    )
    layout = headed(len(names) * ROW + REST, _("<b>BLEU</b> against the whole model's own translations"))
    names_axis = axis() | {"autorange": "reversed", "automargin": True, "ticksuffix": "  ", "showgrid": False}
    return go.Figure(bars, layout | {"bargap": 0.35, "yaxis": names_axis, "xaxis": axis() | {"range": [0, 108]}})
