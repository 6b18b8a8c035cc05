"""Draw the weights of one attention head, or one token's row in every head of a layer: queries down, keys across."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz.pictures.figures.axes import token_labels
from viz.pictures.figures.matrix import matrix, root_scale
from viz.text.messages import _, said
from viz.theme import HEAD_COLOURS


def head_rows(
    rows: Float[np.ndarray, "head key"],
    key_tokens: Sequence[str],
    *,
    number: str = said("weight"),
    top: float = 1.0,
    names: Sequence[str],
    marked: int | None = None,
) -> go.Figure:
    """One query token's row in every head of a layer: a head a row.

    Args:
        rows: none below 0 or above `top`.
        key_tokens: one for each column.
        number: what one number is called.
        top: the number that is lightest.
        names: of the rows.
        marked: a head whose row is framed.
    """
    figure = matrix(
        rows,
        np.sqrt(rows / np.float32(top)),
        names,
        token_labels(key_tokens),
        scale=root_scale(number, top),
        hover=_looks_at(number),
    )
    if marked is not None:
        _frame_row(figure, marked, len(key_tokens))
    return figure


def _looks_at(number: str) -> str:
    """What stands on hover: the query, the key, and the number that is called so."""
    return _(
        "<b>{query}</b> attends to <b>{key}</b><br>{number} {value}",
        query="%{y}",
        key="%{x}",
        number=number,
        value="%{customdata:.4f}",
    )


def _frame_row(figure: go.Figure, row: int, columns: int) -> None:
    figure.add_shape(
        type="rect", x0=-0.5, x1=columns - 0.5, y0=row - 0.5, y1=row + 0.5, line={"color": HEAD_COLOURS[1], "width": 2}
    )
