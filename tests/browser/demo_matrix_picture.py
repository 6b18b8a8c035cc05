"""A matrix alone on a page, with invented numbers. `?case=` chooses which; a button announces what may come next."""

import numpy as np
import streamlit as st

from viz.pictures.matrix_picture.component import ColourScale, Kept, MatrixData, Preview, matrix_picture

WORDS = ["▁The", "▁animal", "▁was", "▁too", "▁tired", "<b>שלום</b>", "▁because", "▁it", "</s>"]
CASES = {"small": (8, 9), "long": (300, 200), "signed": (8, 9)}


def invented(rows: int, columns: int) -> np.ndarray:
    """Row r looks at column r; elsewhere there is little, and different everywhere."""
    values = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns) / (20 * rows * columns)
    diagonal = np.arange(min(rows, columns))
    values[diagonal, diagonal] = 0.9
    return values


def keep(kept: Kept) -> None:
    st.session_state.kept = kept


st.set_page_config(layout="wide")
case = st.query_params.get("case", "small")
rows, columns = CASES[case]
kept = st.session_state.setdefault("kept", Kept())
values = invented(rows, columns)
scale = ColourScale.root("weight", 1.0)
if case == "signed":
    values, scale = values - 0.45, ColourScale.signed("difference", 0.5)
    values[0, 1] = np.nan
data = MatrixData(
    values=values,
    row_tokens=[WORDS[i % len(WORDS)] for i in range(rows)],
    column_tokens=[WORDS[i % len(WORDS)] for i in range(columns)],
    scale=scale,
    title="L1 H1",
    label="An invented head.",
    file_name="invented",
)
matrix_picture(data, kept, on_keep=keep, key="matrix", preview=Preview(("here", 0, 0), {"here": None, "there": None}))
st.text(f"kept: {(kept.row, kept.column)}")
