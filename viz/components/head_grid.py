"""Every head of every layer at a glance: one canvas of tiles, one tile a head; a click opens a head.

Packs weights and tokens for `head_grid.js` and reads back which head a person opened. Long sentences are pooled here,
by maximum, so that what crosses to the browser stays small. Knows nothing of traces, sites or pages.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import streamlit as st
from jaxtyping import Float, UInt16

from viz.components import wire
from viz.theme import SEQUENTIAL, SQRT_TICKS

#: No tile is drawn larger than this on a common screen, and all tiles together stay a message of a few megabytes.
MAX_SIDE: Final = 128
MAX_CELLS: Final = 1_000_000

_HTML: Final = """
<div class="head-grid"></div>
"""
_COMPONENT = st.components.v2.component(
    "headlight_head_grid",
    html=_HTML,
    css=wire.sources("picture.css", "save_picture.css", "head_grid.css"),
    js=wire.sources("wire.js", "picture.js", "save_picture.js", "head_grid.js"),
)


@dataclass(frozen=True)
class HeadChoice:
    """The head a person opened, by click or keyboard. Both count from 0."""

    layer: int
    head: int


@dataclass(frozen=True)
class GridSpec:
    """The sizes of a grid: what there is, and how many weights along each side make one block of a tile."""

    layers: int
    heads: int
    queries: int
    keys: int
    block_queries: int
    block_keys: int

    @classmethod
    def of(cls, shape: tuple[int, int, int, int]) -> Self:
        """Blocks just large enough for tiles of at most min(128, √(10⁶ / heads)) a side; 1 × 1 when all fits."""
        layers, heads, queries, keys = shape
        side = min(MAX_SIDE, math.isqrt(MAX_CELLS // (layers * heads)))
        return cls(layers, heads, queries, keys, math.ceil(queries / side), math.ceil(keys / side))

    @property
    def rows(self) -> int:
        """Blocks down a tile."""
        return math.ceil(self.queries / self.block_queries)

    @property
    def columns(self) -> int:
        """Blocks across a tile."""
        return math.ceil(self.keys / self.block_keys)

    @property
    def is_pooled(self) -> bool:
        """Whether a block holds more than one weight."""
        return self.block_queries * self.block_keys > 1


@dataclass(frozen=True)
class Tiles:
    """The largest weight of every block, and where in its block it lies, counted row by row from the top left."""

    maxima: Float[np.ndarray, "layer head row column"]
    offsets: UInt16[np.ndarray, "layer head row column"]


def pool_tiles(weights: Float[np.ndarray, "layer head query key"], spec: GridSpec) -> Tiles:
    """Max-pool every head to the blocks of `spec`. Blocks cut off by the edge hold fewer weights.

    Maximum and not mean, because a head that attends sharply would fade with every doubling of the sentence.
    """
    shape = (spec.layers, spec.heads, spec.rows, spec.columns)
    maxima = np.empty(shape, np.float32)
    offsets = np.empty(shape, np.uint16)
    # -1 lies below every weight, so that padding never wins.
    padded = np.full((spec.rows * spec.block_queries, spec.columns * spec.block_keys), -1.0, np.float32)
    # One head at a time: the copies that blocking needs stay small when all heads together are large.
    for layer, head in np.ndindex(spec.layers, spec.heads):
        padded[: spec.queries, : spec.keys] = weights[layer, head]
        blocks = padded.reshape(spec.rows, spec.block_queries, spec.columns, spec.block_keys).swapaxes(1, 2)
        flat = blocks.reshape(spec.rows, spec.columns, -1)
        offsets[layer, head] = flat.argmax(-1)
        maxima[layer, head] = flat.max(-1)
    return Tiles(maxima, offsets)


def pack_grid(
    weights: Float[np.ndarray, "layer head query key"],
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    selected: HeadChoice | None,
    name: str = "heads",
) -> bytes:
    """The payload of `head_grid.js`: sizes, tokens as they are shown, colours, and the (pooled) weights."""
    layers, heads, queries, keys = weights.shape
    assert (len(query_tokens), len(key_tokens)) == (queries, keys), "one token for each query row and each key column"
    spec = GridSpec.of((layers, heads, queries, keys))
    tiles = pool_tiles(weights, spec) if spec.is_pooled else None
    stored = wire.sqrt_uint16(weights if tiles is None else tiles.maxima)
    offsets = [] if tiles is None else [tiles.offsets]
    shown_queries, shown_keys = wire.display_tokens(query_tokens), wire.display_tokens(key_tokens)
    header = {
        "layers": layers,
        "heads": heads,
        "rows": spec.rows,
        "columns": spec.columns,
        "blockQueries": spec.block_queries,
        "blockKeys": spec.block_keys,
        "queryTokens": shown_queries,
        "keyTokens": shown_keys,
        "stops": SEQUENTIAL,
        "ticks": SQRT_TICKS,
        "name": name,
        "selected": None if selected is None else [selected.layer, selected.head],
        "digest": wire.digest(str(spec), *shown_queries, *shown_keys, stored, *offsets),
    }
    return wire.pack(header, stored, *offsets)


def read_choice(value: object, layers: int, heads: int) -> HeadChoice | None:
    """What the browser sent, if it names a head that exists: it may still speak of the sentence or model before."""
    if not isinstance(value, Mapping):
        return None
    layer, head = value.get("layer"), value.get("head")
    if not (isinstance(layer, int) and isinstance(head, int) and 0 <= layer < layers and 0 <= head < heads):
        return None
    return HeadChoice(layer, head)


def head_grid(
    weights: Float[np.ndarray, "layer head query key"],
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    selected: HeadChoice | None,
    on_open: Callable[[HeadChoice], None],
    key: str,
    name: str = "heads",
) -> None:
    """Show all heads. Query tokens name the rows of `weights`, key tokens its columns.

    Args:
        selected: the head to mark as open.
        on_open: called before the next run, with the head that a person has opened.
        key: of the component.
        name: of the files in which a person saves the picture, without their ending.
    """
    layers, heads = weights.shape[:2]

    def take() -> None:
        choice = read_choice(st.session_state[key].get("head"), layers, heads)
        if choice is not None:
            on_open(choice)

    _COMPONENT(data=pack_grid(weights, query_tokens, key_tokens, selected, name), key=key, on_head_change=take)
