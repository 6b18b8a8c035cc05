"""What Headlight does between a text and its first picture, with the functions that its pages call, and what it sends.

Without Streamlit and without a browser: the server's part. `drawn` measures the rest.
"""

import time
from collections.abc import Iterator
from typing import Final

from model.adapters.text_reader import TextReader
from model.analysis.metrics import measures
from model.trace import axes
from model.trace.row_blocks import pooled_weights
from model.trace.trace import Trace
from tests.benchmarks.proof.memory import peak, settle
from viz.access.attention import OVERVIEW_SIDE, SHORT
from viz.pictures.matrix_picture.component import ColourScale, Kept, MatrixData, choices
from viz.pictures.payload import pack
from viz.pictures.tiles.codes import (
    TILE_SIDE,
    Frame,
    GridSpec,
    Layer,
    LayerTiles,
    Tiles,
    as_array,
    edges,
    pack_decimals,
)

ADDRESS: Final = "0123456789abcdef"


def first_pictures(reader: TextReader, text: str) -> dict[str, float]:
    """Text → trace → grid → opened head → exact numbers of a part of it.

    Returns:
        `picture`: seconds from the text until the first tiles can be sent; `grid`: until all can; `head`: from then
        until the first head is open; `zoom`: until the numbers of a part of it are there. `bytes`: of grid and head
        together; `picture_memory`: the most that was held.
    """
    before = settle()
    began = time.perf_counter()
    trace = reader.trace(text)
    site = trace.sites[0]
    first, sent = 0.0, 0
    for message in _grid(trace, site):
        first = first or time.perf_counter() - began
        sent += len(message)
    grid = time.perf_counter() - began
    matrix, opened = _head(trace, site)
    head = time.perf_counter() - began - grid
    # In the middle, where no row is short.
    middle = slice(len(matrix.queries.labels) // 2, len(matrix.queries.labels) // 2 + TILE_SIDE)
    pack_decimals(matrix.pooled(middle, middle, (1, 1)).numpy(), 4)
    return {
        "picture": first,
        "grid": grid,
        "head": head,
        "zoom": time.perf_counter() - began - grid - head,
        "bytes": sent + len(opened),
        "picture_memory": peak() - before,
    }


def _grid(trace: Trace, site: str) -> Iterator[bytes]:
    """What is sent of a grid, in order: all at once, or of a long text layer by layer."""
    queries, keys = trace.axis_tokens(site)
    shape = (*trace.shapes[site], len(queries), len(keys))
    layers = range(trace.layers_of(site))
    if max(shape[2:]) <= SHORT:
        tiles = Tiles.of(shape, (trace.weights(site, layer).numpy() for layer in layers))
        frame = Frame(spec=tiles.spec, query_tokens=queries, key_tokens=keys, address=ADDRESS)
        yield pack(frame, as_array(tiles))
        return
    spec = GridSpec.of(shape)
    rows, columns = edges(spec.queries, spec.rows).tolist(), edges(spec.keys, spec.columns).tolist()
    empty = pack(Frame(spec=spec, query_tokens=queries, key_tokens=keys, address=ADDRESS))
    for layer in layers:
        pooled = pooled_weights(trace.attention(site, layer), rows, columns)
        arrays = pooled.maxima.numpy(), pooled.down.numpy(), pooled.across.numpy()
        yield empty + pack(Layer(ADDRESS, layer), as_array(LayerTiles.of(spec, layer, *arrays)))
        empty = b""


def _head(trace: Trace, site: str) -> tuple[measures.HeadMatrix, bytes]:
    """The first head, and what is sent of it when a person opens it."""
    queries, keys = map(axes.single_tokens, trace.axis_tokens(site))
    matrix = measures.HeadMatrix(measures.weights_of(trace.attention(site, 0), 0), queries, keys)
    longest = max(len(queries.labels), len(keys.labels))
    side = 1 if longest <= SHORT else -(-longest // OVERVIEW_SIDE)
    data = MatrixData(
        values=matrix.pooled(slice(None), slice(None), (side, side)).numpy(),
        row_tokens=queries.labels,
        column_tokens=keys.labels,
        scale=ColourScale.root("weight", 1.0),
        title="",
        label="",
        block=(side, side),
        address=ADDRESS,
    )
    return matrix, pack(data, **choices(Kept()))
