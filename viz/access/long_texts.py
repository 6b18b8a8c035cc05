"""Derive what pages show of a text too long for whole matrices: pooled, or the part that is looked at.

Nothing here holds n × n numbers of more than one head, and of one head only a rollout.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from model import later
from viz.access.attention import MatrixView, OpenedLayer, collect_head_metrics, shown_axes, tiles_key
from viz.pictures.tiles.codes import GridSpec, LayerTiles, Source, decimals_for, edges
from viz.server.background_jobs import Progress, Task
from viz.server.caches import BoundedCache, cache_key, cached
from viz.text.messages import said

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.metrics.measures import HeadMatrix
    from model.trace.axes import Axis

#: Up to so many tokens a side, whole matrices are small enough to be computed and sent.
SHORT: Final = 512
#: An overview has at most so many blocks a side: as many as a picture has pixels.
OVERVIEW_SIDE: Final = 720
#: Tokens up to which a rollout is offered: it is a whole matrix, and a product of such in every layer.
MAX_ROLLOUT: Final = 2_048
#: Lines are drawn between so many tokens a side, of fewer where there are many heads.
WINDOW: Final = 128
MAX_LINE_VALUES: Final = 450_000
MAX_GRIDS, MAX_HEADS, MAX_WINDOWS = 16, 12, 16


@dataclass(frozen=True, eq=False)
class LongHead:
    """One head of a long text."""

    overview: Float[np.ndarray, "block_row block_column"]  #: the largest number of every block; read-only
    block: tuple[int, int]  #: its rows and columns
    #: queries, keys: the labels along the sides of the whole matrix.
    queries: "Axis"
    keys: "Axis"
    top: float  #: the largest number of all
    source: Source  #: what exact tiles are cut from


@dataclass
class Grid:
    """The tiles of the layers of one site that are computed, for all viewers."""

    spec: GridSpec
    layers: dict[int, LayerTiles] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


def is_long(trace: "Trace", site: str) -> bool:
    """Whether a site has more tokens a side than whole matrices are made of; weights alone are all held anyway."""
    return trace.knows_inputs and max(map(len, trace.axis_tokens(site))) > SHORT


def grid_of(trace: "Trace", site: str) -> Grid:
    """Where the tiles of a site are, as far as they are computed."""
    queries, keys = map(len, trace.axis_tokens(site))
    layers = trace.inputs[site]
    spec = GridSpec.of((len(layers), layers[0].num_heads, queries, keys))
    key = tiles_key(trace, site)
    known = _grids().get(key)
    return _grids().put(key, Grid(spec)) if known is None else known


def tiles_task(trace: "Trace", site: str) -> Task[None]:
    """Computes the layers of `grid_of` that are missing, first to last, in a thread of its own."""
    grid = grid_of(trace, site)

    def compute(progress: Progress) -> None:
        for layer in range(grid.spec.layers):
            if layer not in grid.layers:
                tiles = _layer_tiles(trace, site, layer, grid.spec)
                with grid.lock:
                    grid.layers[layer] = tiles
            progress(1)

    text = said("Computing all heads: layer {next} of {total}")
    return Task(("tiles", tiles_key(trace, site)), grid.spec.layers, said("layers"), compute, text)


def metrics_task(trace: "Trace", site: str) -> Task[Mapping[str, Float[np.ndarray, "layer head"]]]:
    """Computes `attention.head_metrics`, layer by layer."""

    def compute(progress: Progress) -> Mapping[str, Float[np.ndarray, "layer head"]]:
        return collect_head_metrics(trace, site, progress)

    return Task(("head metrics", tiles_key(trace, site)), len(trace.inputs[site]), said("layers"), compute)


def long_head(trace: "Trace", reader: "Reader", site: str, layer: int, head: int, view: MatrixView) -> LongHead:
    """A head by a measure, between words or tokens, with or without special tokens; a rollout has one for all."""
    return _long_head(trace, reader, site, layer, 0 if view.measure == "rollout" else head, view)


def long_row(
    trace: "Trace", reader: "Reader", site: str, layer: int, head: int, row: int, view: MatrixView
) -> Float[np.ndarray, "1 column"]:
    """One row of `long_head`, exact."""
    source = long_head(trace, reader, site, layer, head, view).source
    return source.pooled(slice(row, row + 1), slice(0, None), (1, 1))


@cached(max_entries=MAX_WINDOWS)
def window(trace: "Trace", reader: "Reader", site: str, layer: int, start: int, view: MatrixView) -> OpenedLayer:
    """All heads of a layer as `attention.opened_layer`, from query `start` on, as many as lines can join.

    In cross-attention, keys are those that lie as far along the source as the queries along the translation.
    """
    heads = range(1 if view.measure == "rollout" else trace.inputs[site][layer].num_heads)
    queries, keys = shown_axes(trace, site, view)
    length = window_length(len(heads))
    rows = _run(start, length, len(queries.labels))
    # As far along the keys as the window is along the queries.
    along = rows.start / max(1, len(queries.labels) - length)
    columns = _run(round(along * max(0, len(keys.labels) - length)), length, len(keys.labels))
    values = np.stack(
        [_head_matrix(trace, reader, site, layer, head, view).part(rows, columns).numpy() for head in heads]
    )
    values.setflags(write=False)
    return OpenedLayer(values, queries.part(rows), keys.part(columns))


def window_length(num_heads: int) -> int:
    """Queries, and keys, between which lines are drawn."""
    return max(16, min(WINDOW, int((MAX_LINE_VALUES / num_heads) ** 0.5)))


def num_queries(trace: "Trace", site: str, view: MatrixView) -> int:
    """How many queries are shown: tokens or words, with or without special tokens."""
    queries, _ = shown_axes(trace, site, view)
    return len(queries.labels)


def _layer_tiles(trace: "Trace", site: str, layer: int, spec: GridSpec) -> LayerTiles:
    rows, columns = edges(spec.queries, spec.rows).tolist(), edges(spec.keys, spec.columns).tolist()
    pooled = later.row_blocks.pooled_weights(trace.attention(site, layer), rows, columns)
    return LayerTiles.of(spec, layer, pooled.maxima.numpy(), pooled.down.numpy(), pooled.across.numpy())


def _head_matrix(trace: "Trace", reader: "Reader", site: str, layer: int, head: int, view: MatrixView) -> "HeadMatrix":
    inputs = trace.attention(site, layer)
    if view.measure == "rollout":
        values = later.measures.values_of(later.measures.rollout_at(trace, site, layer))
    elif view.measure == "norms":
        values = later.measures.norms_of(inputs, head, reader.output_projection(site, layer))
    else:
        values = later.measures.weights_of(inputs, head)
    return later.measures.HeadMatrix(values, *shown_axes(trace, site, view))


@cached(max_entries=MAX_HEADS)
def _long_head(trace: "Trace", reader: "Reader", site: str, layer: int, head: int, view: MatrixView) -> LongHead:
    from viz.pictures.payload import fingerprint

    matrix = _head_matrix(trace, reader, site, layer, head, view)
    shape = len(matrix.queries.labels), len(matrix.keys.labels)
    block = -(-shape[0] // OVERVIEW_SIDE), -(-shape[1] // OVERVIEW_SIDE)
    everything = slice(0, None)
    overview = matrix.pooled(everything, everything, block).numpy()
    overview.setflags(write=False)
    top = 1.0 if view.measure != "norms" else float(overview.max(initial=0.0)) or 1.0

    def pooled(rows: slice, columns: slice, size: tuple[int, int]) -> Float[np.ndarray, "row column"]:
        return matrix.pooled(rows, columns, size).numpy()

    address = fingerprint(repr((trace.key, site, layer, head, cache_key(view))))
    source = Source(address, shape, decimals_for(top), pooled)
    return LongHead(overview, block, matrix.queries, matrix.keys, top, source)


def _run(start: int, length: int, count: int) -> slice:
    first = max(0, min(start, count - length))
    return slice(first, min(count, first + length))


@st.cache_resource(show_spinner=False)
def _grids() -> BoundedCache[str, Grid]:
    return BoundedCache(MAX_GRIDS)
