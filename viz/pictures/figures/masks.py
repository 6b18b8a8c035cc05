"""Attention masks as pictures: one mask, and who is padded in a batch."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, UInt8

from viz import theme
from viz.pictures.figures.charts import row_labels, thinned, token_labels
from viz.pictures.figures.heads import ROW_HEIGHT, Scale, matrix
from viz.text.messages import _, said

#: What may be said of a cell, by its code: bit 0 is the future, bit 1 padding. The future is dark, padding is warm.
ALLOWED, FUTURE, PADDING, BOTH = range(4)
STATES: Final = (
    said("may attend"),
    said("masked: future"),
    said("masked: padding"),
    said("masked: future and padding"),
)
COLOURS: Final = (theme.SEQUENTIAL[5], theme.SEQUENTIAL[1], theme.DIVERGING[8], theme.DIVERGING[6])
MASK_SCALE: Final = Scale("", COLOURS, ALLOWED, BOTH, ())
#: Masks stand three to a row, so their rows are low: the cells are then nearly square.
MASK_ROW_HEIGHT, MIN_MASK_HEIGHT, MAX_MASK_HEIGHT = 19, 150, 520
#: Room for the tokens above a mask, and for the numbers above a batch.
LABEL_HEIGHT, BATCH_LABEL_HEIGHT = 90, 44
#: So many tokens fit along a mask, and so many numbers along a batch; of more, every second, third … stands there.
MAX_ROWS, MAX_COLUMNS, MAX_NUMBERS = 36, 20, 10


def reasons(
    causal: Bool[np.ndarray, "#query key"], padding: Bool[np.ndarray, "#query key"]
) -> UInt8[np.ndarray, "query key"]:
    """Why each query may not attend to a key, as a code: from the two masks that make up one, True = may attend."""
    codes: np.ndarray = ((~causal) * FUTURE | (~padding) * PADDING).astype(np.uint8)
    return codes


def mask_heatmap(
    codes: UInt8[np.ndarray, "query key"], query_tokens: Sequence[str], key_tokens: Sequence[str], *, rows_write: bool
) -> go.Figure:
    """One mask, queries as rows and keys as columns, a colour for each of `STATES`.

    `rows_write`: whether rows stand for what they write (`charts.row_labels`).
    """
    rows = row_labels(query_tokens, rows_write=rows_write)
    present = np.unique(codes)
    # Words for every cell are megabytes in a long sentence: where all cells are alike, the hover says it once.
    words = [_(state) for state in STATES]
    word = words[present[0]] if len(present) == 1 else "%{customdata}"
    query, key = _("query {token}", token="<b>%{y}</b>"), _("key {token}", token="<b>%{x}</b>")
    figure = matrix(
        codes if len(present) == 1 else np.array(words)[codes],
        codes,
        rows,
        token_labels(key_tokens),
        scale=MASK_SCALE,
        hover=f"{query}<br>{key}<br>{word}",
    )
    figure.data[0].showscale = False
    # Three masks stand side by side: upright labels are the only ones that fit above narrow columns.
    small = {"tickfont": {"size": 12}}
    height = len(codes) * MASK_ROW_HEIGHT + LABEL_HEIGHT
    figure.update_layout(
        height=min(MAX_MASK_HEIGHT, max(MIN_MASK_HEIGHT, height)),
        xaxis=thinned(token_labels(key_tokens), MAX_COLUMNS) | small,
        yaxis=thinned(rows, MAX_ROWS) | small,
    )
    return figure


def batch_overview(real: Bool[np.ndarray, "sentence position"], tokens: Sequence[Sequence[str]]) -> go.Figure:
    """A padded batch, a row a sentence (from 1), a column a position; `real` is False at padding, in its colour."""
    sentences, positions = real.shape
    labels = [str(position) for position in range(positions)]
    hover = _("{sentence}, position {position}", sentence="<b>%{y}</b>", position="%{x}")
    figure = matrix(
        np.array([token_labels(row) for row in tokens]),
        np.where(real, ALLOWED, PADDING).astype(np.uint8),
        [_("Sentence {number}", number=number) for number in range(1, sentences + 1)],
        labels,
        scale=MASK_SCALE,
        hover=f"{hover}<br><b>%{{customdata}}</b>",
    )
    figure.data[0].showscale = False
    numbers = thinned(labels, MAX_NUMBERS) | {"tickangle": 0, "tickfont": {"size": 12}}
    figure.update_layout(height=sentences * ROW_HEIGHT + BATCH_LABEL_HEIGHT, xaxis=numbers)
    return figure
