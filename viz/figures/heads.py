"""The weights of one attention head, or one token's row in every head of a layer, as plotly figures.

Queries are rows and keys are columns, always. Knows nothing of where the weights come from.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz.figures.axes import token_labels
from viz.figures.matrix import WEIGHT_SCALE, matrix


def head_heatmap(
    weights: Float[np.ndarray, "query key"], query_tokens: Sequence[str], key_tokens: Sequence[str]
) -> go.Figure:
    """The weights of one head, exact on hover, coloured by their square root."""
    return matrix(
        weights,
        np.sqrt(weights),
        token_labels(query_tokens),
        token_labels(key_tokens),
        scale=WEIGHT_SCALE,
        hover="<b>%{y}</b> → <b>%{x}</b><br>weight %{customdata:.4f}",
    )


def head_rows(rows: Float[np.ndarray, "head key"], key_tokens: Sequence[str]) -> go.Figure:
    """One query token's row in every head of a layer: a head a row, counted from 1."""
    return matrix(
        rows,
        np.sqrt(rows),
        head_labels(len(rows)),
        token_labels(key_tokens),
        scale=WEIGHT_SCALE,
        hover="<b>%{y}</b> looks at <b>%{x}</b><br>weight %{customdata:.4f}",
    )


def head_labels(count: int) -> list[str]:
    """`Head 1`, `Head 2`, …: people count from 1."""
    return [f"Head {head + 1}" for head in range(count)]
