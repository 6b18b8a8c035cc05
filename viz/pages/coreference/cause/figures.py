"""Draw two metrics of the same heads against each other."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.text.messages import _
from viz.text.sites import CROSS, DECODER, ENCODER, NAMES, head_label

if TYPE_CHECKING:
    from model.analysis.metrics.head_names import HeadName

HEIGHT: Final = 330
SITE_COLOURS: Final = {
    ENCODER: theme.HEAD_COLOURS[0],
    DECODER: theme.HEAD_COLOURS[2],
    CROSS: theme.HEAD_COLOURS[1],
}


def two_metrics(
    first: Float[np.ndarray, "head"],
    second: Float[np.ndarray, "head"],
    heads: "Sequence[HeadName]",
    titles: tuple[str, str],
) -> go.Figure:
    """Two metrics of the same heads against each other: a point a head, a colour a site; dashed where equal."""
    points = []
    for site in dict.fromkeys(head.site for head in heads):
        here = [number for number, head in enumerate(heads) if head.site == site]
        points.append(
            go.Scatter(
                x=first[here],
                y=second[here],
                mode="markers",
                marker={"size": 8, "color": SITE_COLOURS[site], "opacity": 0.85},
                customdata=[head_label(heads[number].layer, heads[number].head) for number in here],
                hovertemplate=f"<b>{_('{site} {head}', site=NAMES[site].short, head='%{customdata}')}</b>"
                f"<br>{titles[0]} %{{x:.3f}}<br>{titles[1]} %{{y:.3f}}<extra></extra>",
            )
        )
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
