"""What a hypothesis of a beam search looked at while it grew."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz.pictures.figures.axes import token_labels
from viz.pictures.figures.matrix import WEIGHT_SCALE, matrix
from viz.text.messages import _


def ancestor_heatmap(
    weights: Float[np.ndarray, "row key"],
    row_names: Sequence[str],
    batch_rows: Sequence[int],
    key_tokens: Sequence[str],
) -> go.Figure:
    """Weights of one head along a hypothesis' own ancestors: a row for each token that it wrote.

    Args:
        weights: none below 0 or above 1.
        row_names: the token that each row read and the one that it wrote.
        batch_rows: which row of the batch computed each of them, from 0; named from 1.
        key_tokens: one for each column.
    """
    pairs = zip(token_labels(row_names), batch_rows, strict=True)
    labels = [_("{name} · row {row}", name=name, row=row + 1) for name, row in pairs]
    looks_at = _("looks at {key}", key="<b>%{x}</b>")
    weight = _("weight {weight}", weight="%{customdata:.4f}")
    return matrix(
        weights,
        np.sqrt(weights),
        labels,
        token_labels(key_tokens),
        scale=WEIGHT_SCALE,
        hover=f"<b>%{{y}}</b><br>{looks_at}<br>{weight}",
    )
