"""A matrix of 1,500 × 1,400 invented numbers, as an overview with exact tiles; no model is needed."""

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.pictures.matrix_picture.component import ColourScale, Kept, MatrixData, matrix_picture
from viz.pictures.tiles.codes import Source, tile_server

ROWS, COLUMNS, BLOCK = 1_500, 1_400, 3


def number(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Every cell has a number of its own in its last decimals; on the diagonal there is much."""
    return np.where(rows == columns, 0.9, (7 * rows + columns) % 997 / 10_000)


def pooled(rows: slice, columns: slice, block: tuple[int, int]) -> Float[np.ndarray, "row column"]:
    """The largest number of each block."""
    (top, bottom, _), (left, right, _) = rows.indices(ROWS), columns.indices(COLUMNS)
    part = number(np.arange(top, bottom)[:, None], np.arange(left, right)).astype(np.float32)
    padded = np.pad(part, [(0, -count % size) for count, size in zip(part.shape, block, strict=True)])
    return np.asarray(padded.reshape(padded.shape[0] // block[0], block[0], -1, block[1]).max((1, 3)))


def keep(kept: Kept) -> None:
    st.session_state.kept = kept


@st.fragment
def serve() -> None:
    tile_server(Source("invented", (ROWS, COLUMNS), 4, pooled), key="tiles")


st.set_page_config(layout="wide")
kept = st.session_state.setdefault("kept", Kept())
data = MatrixData(
    values=pooled(slice(None), slice(None), (BLOCK, BLOCK)),
    row_tokens=[f"row{i}" for i in range(ROWS)],
    column_tokens=[f"column{i}" for i in range(COLUMNS)],
    scale=ColourScale.root("weight", 1.0),
    title="L1 H1",
    label="An invented head.",
    file_name="invented",
    block=(BLOCK, BLOCK),
    address="invented",
)
is_served = st.toggle("Serve", True)
matrix_picture(data, kept, on_keep=keep, key="matrix")
if is_served:
    serve()
st.text(f"kept: {(kept.row, kept.column)}")
