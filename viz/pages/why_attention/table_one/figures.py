"""How far a token's influence has come after 1, 2, 3 … layers: one picture a kind of layer."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.pages.why_attention.charts import axis, note
from viz.text.messages import Message, _, plural, said

if TYPE_CHECKING:
    from model.analysis.layer_kinds.kinds import Kind

NAMES: "Final[Mapping[Kind, Message]]" = {
    "self-attention": said("Self-attention"),
    "recurrent": said("Recurrent (GRU)"),
    "convolution": said("Convolution"),
    "dilated": said("Dilated conv."),
    "restricted": said("Restricted att."),
}
COLOURS: "Final[Mapping[Kind, str]]" = {
    "self-attention": theme.HEAD_COLOURS[0],
    "recurrent": theme.HEAD_COLOURS[3],
    "convolution": theme.HEAD_COLOURS[2],
    "dilated": theme.HEAD_COLOURS[6],
    "restricted": theme.HEAD_COLOURS[5],
}
#: Pixels of one heatmap, and between two; influences down to this share of the largest are told apart.
SIDE, GAP = 165, 26
LEAST: Final = 1e-5
#: Where the smallest influence that is drawn begins on the scale; exactly none is at its dark end.
_START: Final = 0.15


def shades(influence: Float[np.ndarray, "output input"]) -> Float[np.ndarray, "output input"]:
    """Places on the scale: 0 for exactly none, then by the logarithm of the share of the largest."""
    share = np.log10(np.maximum(influence / influence.max(), LEAST)) / -np.log10(LEAST) + 1
    return np.where(influence > 0, _START + (1 - _START) * share, 0.0)


def influence_maps(influences: Sequence[Float[np.ndarray, "output input"]], name: str) -> go.Figure:
    """Outputs down, inputs across, one heatmap for each number of layers, the first on top."""
    count = len(influences)
    height = count * SIDE + (count - 1) * GAP + 46
    layout = theme.figure_layout(height)
    layout["margin"] = layout["margin"] | {"t": 38}
    maps, notes = [], []
    inner = height - 46
    for depth, influence in enumerate(influences):
        end = "" if depth == 0 else str(depth + 1)
        top = 1 - depth * (SIDE + GAP) / inner
        maps.append(
            go.Heatmap(
                z=shades(influence),
                customdata=influence / influence.max(),
                zmin=0,
                zmax=1,
                colorscale=theme.colorscale(theme.SEQUENTIAL),
                showscale=False,
                xaxis=f"x{end}",
                yaxis=f"y{end}",
                hovertemplate=_("output %{y}, input %{x}<br>%{customdata:.2g} of the largest") + "<extra></extra>",
            )
        )
        bare = axis() | {"showgrid": False, "showticklabels": False, "ticks": ""}
        layout[f"xaxis{end}"] = bare | {"anchor": f"y{end}"}
        span = [max(0.0, top - SIDE / inner), top]
        layout[f"yaxis{end}"] = bare | {"anchor": f"x{end}", "domain": span, "autorange": "reversed"}
        layers = plural("{count} layer", "{count} layers", depth + 1)
        text = f"<b>{name}</b><br>{layers}" if depth == 0 else layers
        notes.append(note(text, 0, 1, "left", 2) | {"xref": f"x{end} domain", "yref": f"y{end} domain"})
    return go.Figure(maps, layout | {"annotations": notes})
