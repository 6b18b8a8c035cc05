"""Layer norm beside batch norm on the same batch, as three heatmaps."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.pictures.figures.charts import row_axis, token_labels
from viz.text.messages import _

ROW, REST = 13, 92
#: Normed numbers are coloured up to so many deviations; few lie beyond.
BOUND: Final = 3.0
#: Where the three heatmaps begin and end across the figure.
DOMAINS: Final = ((0.0, 0.315), (0.345, 0.66), (0.69, 1.0))


def both_norms(
    tokens: Sequence[str],
    row: int,
    before: Float[np.ndarray, "row d_model"],
    layer_normed: Float[np.ndarray, "row d_model"],
    batch_normed: Float[np.ndarray, "row d_model"],
) -> go.Figure:
    """Tokens down, the numbers of each across: as they come in, after layer norm, after batch norm.

    Args:
        tokens: one a row, of all sentences of the batch.
        row: of the token that is followed, which is framed.
        before: its colours reach to its largest number; those of the others to `BOUND`.
        layer_normed, batch_normed: with mean 0 and deviation 1 along rows, and along columns.
    """
    largest = float(np.abs(before).max(initial=1e-9))
    labels = token_labels(tokens)
    titles = (_("Before the norm"), _("Layer norm →"), _("Batch norm ↓"))
    hover = _("{token}, component {number}", token="%{customdata}", number="%{x}")
    maps, layout = [], theme.figure_layout(len(tokens) * ROW + REST)
    for number, (values, bound) in enumerate(((before, largest), (layer_normed, BOUND), (batch_normed, BOUND)), 1):
        end = "" if number == 1 else str(number)
        maps.append(
            go.Heatmap(
                z=np.asarray(values, np.float32),
                y=list(range(len(labels))),
                customdata=np.repeat(np.asarray(labels, object)[:, None], values.shape[1], axis=1),
                zmin=-bound,
                zmax=bound,
                colorscale=theme.colorscale(theme.DIVERGING),
                showscale=False,
                xaxis=f"x{end}",
                yaxis=f"y{end}",
                hovertemplate=f"{hover}<br>%{{z:.3f}}<extra></extra>",
            )
        )
        quiet = {"showgrid": False, "zeroline": False, "ticks": ""}
        x_title = {"text": _("the components of a token's vector"), "font": {"size": 12, "color": theme.CHART_TEXT}}
        layout[f"xaxis{end}"] = quiet | theme.AXIS_TEXT | {"domain": DOMAINS[number - 1], "title": x_title}
        rows = row_axis(labels) if number == 1 else {"range": [len(labels) - 0.5, -0.5], "showticklabels": False}
        layout[f"yaxis{end}"] = rows | quiet | {"anchor": f"x{end}"}
    layout["annotations"] = [_title(text, domain) for text, domain in zip(titles, DOMAINS, strict=True)]
    layout["shapes"] = [_frame(row, end) for end in ("", "2", "3")]
    layout["margin"] = layout["margin"] | {"t": 34}
    return go.Figure(maps, layout)


def _title(text: str, domain: tuple[float, float]) -> theme.PlotlySpec:
    where = {"x": domain[0], "y": 1, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return where | {"text": text, "showarrow": False, "yshift": 4, "font": {"size": 13, "color": theme.CHART_TEXT}}


def _frame(row: int, end: str) -> theme.PlotlySpec:
    box = {
        "type": "rect",
        "xref": f"x{end} domain",
        "yref": f"y{end}",
        "x0": 0,
        "x1": 1,
        "y0": row - 0.5,
        "y1": row + 0.5,
    }
    return box | {"line": {"color": theme.HEAD_COLOURS[1], "width": 2}}
