"""Invented heads over an invented picture, alone on a page: six words, 24 patches, what has no place in the picture."""

import numpy as np
import streamlit as st

from viz.pages.attention.opened_head.picture_panel import PictureArea, PictureData, picture_attention
from viz.pictures.focus import FocusAxis
from viz.pictures.head_grid.component import Grid, HeadChoice, head_grid
from viz.pictures.source_picture import SourcePicture
from viz.pictures.tiles.codes import Frame, Tiles, send_tiles

ROWS, COLUMNS, SIDE = 4, 6, 16
LAYERS, HEADS = 2, 3
#: Rows stand for the words that they write.
WORDS = ("▁a", "▁red", "▁house", "▁<b>and", "▁tree", "</s>")
TOKENS = ("[CLS]", *(f"{row + 1}·{column + 1}" for row in range(ROWS) for column in range(COLUMNS)), "[PAD]", "[PAD]")


def invented_picture() -> SourcePicture:
    """A picture that is redder to the right and greener below, and which of its squares each patch is."""
    pixels = np.zeros((ROWS * SIDE, COLUMNS * SIDE, 3), np.uint8)
    pixels[..., 0] = np.linspace(0, 255, COLUMNS * SIDE)
    pixels[..., 1] = np.linspace(0, 255, ROWS * SIDE)[:, None]
    corners = [(SIDE * column, SIDE * row) for row in range(ROWS) for column in range(COLUMNS)]
    placed = [(x, y, x + SIDE, y + SIDE) for x, y in corners]
    return SourcePicture(pixels, np.array([(0,) * 4, *placed, (0,) * 4, (0,) * 4], np.uint16))


def invented_weights() -> np.ndarray:
    """Word w gives 0.6 to the patch 4 · w + the number of the head, 0.2 to [CLS], 0.05 to each [PAD], 0.1 to others."""
    weights = np.full((LAYERS, HEADS, len(WORDS), len(TOKENS)), 0.1 / (ROWS * COLUMNS - 1), np.float32)
    weights[..., 0], weights[..., -2:] = 0.2, 0.05
    for layer, head, word in np.ndindex(LAYERS, HEADS, len(WORDS)):
        weights[layer, head, word, 1 + (4 * word + layer * HEADS + head) % (ROWS * COLUMNS)] = 0.6
    return weights


if __name__ == "__main__":
    st.set_page_config(layout="wide")
    kept, area = st.session_state.setdefault("kept", 2), st.session_state.setdefault("area", ())
    head = st.session_state.setdefault("head", HeadChoice(0, 1))
    picture, weights = invented_picture(), invented_weights()
    axes = FocusAxis("target", ahead=1), FocusAxis("source")
    tiles = Tiles.of(weights.shape, list(weights))
    frame = Frame(
        spec=tiles.spec, query_tokens=WORDS, key_tokens=TOKENS, address="invented", axes=axes, picture=picture
    )
    send_tiles(tiles, frame, key="tiles")
    left, right = st.columns(2)
    with left:
        head_grid(
            Grid(address="invented", shape=(LAYERS, HEADS), selected=head, kept=() if kept is None else (kept,)),
            on_open=lambda choice: st.session_state.update(head=choice),
            key="grid",
        )
    with right:
        data = PictureData(
            picture=picture,
            values=weights[head.layer, head.head],
            tokens=TOKENS,
            row_tokens=WORDS,
            rows=axes[0],
            is_self=False,
            number="weight",
            title=f"L{head.layer + 1} H{head.head + 1}",
            query=kept or 0,
            area=area or None,
        )

        def keep(row: int) -> None:
            st.session_state.kept = row

        def ask(drawn: PictureArea) -> None:
            st.session_state.area = drawn.corners

        picture_attention(data, on_query=keep, on_area=ask, key="picture")
    st.text(f"kept: {kept}, area: {list(area)}")
