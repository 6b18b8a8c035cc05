"""Attention masks as pictures: bright where a query may attend to a key, night where it may not.

Knows nothing of why a place is masked.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool

from viz import theme
from viz.figures.axes import token_labels
from viz.figures.matrix import Scale, matrix

MASK_SCALE: Final = Scale("", (theme.NIGHT, theme.SEQUENTIAL[5]), 0.0, 1.0, ())


def mask_heatmap(
    mask: Bool[np.ndarray, "query key"], query_tokens: Sequence[str], key_tokens: Sequence[str]
) -> go.Figure:
    """One mask, queries as rows and keys as columns. There are two colours only, so there is no colour bar."""
    figure = matrix(
        np.where(mask, "may attend", "is kept from"),
        mask.astype(np.uint8),
        token_labels(query_tokens),
        token_labels(key_tokens),
        scale=MASK_SCALE,
        hover="<b>%{y}</b> %{customdata} <b>%{x}</b>",
    )
    figure.data[0].showscale = False
    # Three masks stand side by side: upright labels are the only ones that fit above narrow columns.
    figure.update_xaxes(tickangle=-90, tickfont_size=11)
    return figure
