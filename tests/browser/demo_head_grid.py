"""The grid of heads over invented attention, alone on a page. `?case=` chooses the sizes, `?order=` another order."""

import numpy as np
import streamlit as st

from viz.pictures.head_grid.component import Grid, HeadChoice, TileMetric, head_grid
from viz.pictures.tiles.codes import Frame, Tiles, send_tiles
from viz.ui.head_metrics import ranking

CASES = {
    "small": (6, 8, 20, 20),
    "cross": (4, 8, 18, 25),
    "pooled": (6, 8, 300, 300),
    "big": (6, 16, 40, 40),
    "long": (6, 8, 512, 512),
}
WORDS = [
    "▁The", "▁animal", "▁didn", "'", "t", "▁cross", "▁the", "▁street", "▁because", "▁it", "▁was", "▁too", "▁tired",
    ".",
]  # fmt: skip


def attention(layers: int, heads: int, queries: int, keys: int) -> np.ndarray:
    """Heads that look back, ahead, around, at one token or everywhere, each with its own sharpness."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(layers, heads, queries, keys))
    distance = np.arange(queries)[:, None] * (keys / queries) - np.arange(keys)[None]
    for layer, head in np.ndindex(layers, heads):
        kind = (layer + head) % 5
        sharp = 2.0 + 6.0 * rng.random()
        if kind < 3:
            scores[layer, head] -= sharp * np.abs(distance - (kind - 1)) / 2
        elif kind == 3:
            scores[layer, head, :, rng.integers(keys)] += sharp
        scores[layer, head, :, -1] += 2 * rng.random()
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True))


def tokens(count: int) -> list[str]:
    """The words again and again, ended as a source ends."""
    return [*(WORDS[i % len(WORDS)] for i in range(count - 1)), "</s>"]


st.set_page_config(layout="wide")
layers, heads, queries, keys = CASES[st.query_params.get("case", "small")]
if "open" not in st.session_state:
    st.session_state.open = HeadChoice(2, 4)


def open_head(choice: HeadChoice) -> None:
    st.session_state.open = choice


@st.cache_resource
def tiles(layers: int, heads: int, queries: int, keys: int) -> Tiles:
    shape = layers, heads, queries, keys
    return Tiles.of(shape, attention(*shape).astype(np.float32))


# Of the heads of a layer the last is the highest.
numbers = np.arange(1.0, heads + 1) + np.arange(layers)[:, None] / 100
metric = TileMetric("Invented", numbers, 2, "", "The number of the head.") if "order" in st.query_params else None
address = f"{layers} {heads} {queries} {keys}"
made = tiles(layers, heads, queries, keys)
frame = Frame(spec=made.spec, query_tokens=tokens(queries), key_tokens=tokens(keys), address=address)
send_tiles(made, frame, key="tiles")
grid = Grid(
    address=address,
    shape=(layers, heads),
    selected=st.session_state.open,
    metric=metric,
    ranking=None if metric is None else ranking(metric, st.query_params["order"], int(st.query_params.get("keep", 0))),
)
head_grid(grid, on_open=open_head, key="grid")
st.text(f"open: {(st.session_state.open.layer, st.session_state.open.head)}")
