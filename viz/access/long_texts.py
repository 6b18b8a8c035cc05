"""What pages show of a text too long for whole matrices: pooled, or the part that is looked at. Derived by the model.

Like `viz.access.derived` a door from the pages to the model; torch is imported inside functions. Nothing here holds
n × n
numbers of more than one head, and of one head only a rollout. Knows nothing of widgets or figures.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import loader
from viz.access.derived import OpenedLayer, collected_metrics, shown_axes, tiles_address
from viz.core.background_jobs import Progress, Task
from viz.core.bounded_cache import BoundedCache
from viz.core.decimals import decimals_for
from viz.core.tile_source import Source
from viz.core.tiles import GridSpec, LayerTiles, edges
from viz.selection.selection import Selection

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.metrics.head_matrix import HeadMatrix
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
MAX_SHELVES, MAX_HEADS, MAX_WINDOWS = 16, 12, 16


@dataclass(frozen=True, eq=False)
class LongHead:
    """One head of a long text.

    Attributes:
        overview: the largest number of every block; read-only.
        block: its rows and columns.
        queries, keys: the places along the sides of the whole matrix.
        top: the largest number of all.
        source: what exact tiles are cut from.
    """

    overview: Float[np.ndarray, "block_row block_column"]
    block: tuple[int, int]
    queries: "Axis"
    keys: "Axis"
    top: float
    source: Source


@dataclass
class GridShelf:
    """The tiles of the layers of one site that are computed, for all viewers."""

    spec: GridSpec
    layers: dict[int, LayerTiles] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


def is_long(trace: "Trace", site: str) -> bool:
    """Whether a site has more tokens a side than whole matrices are made of; weights alone are all held anyway."""
    return trace.knows_inputs and max(map(len, trace.axis_tokens(site))) > SHORT


def grid_shelf(trace: "Trace", site: str, selection: Selection) -> GridShelf:
    """Where the tiles of a site are, as far as they are computed."""
    queries, keys = map(len, trace.axis_tokens(site))
    layers = trace.inputs[site]
    spec = GridSpec.of((len(layers), layers[0].num_heads, queries, keys))
    place = tiles_address(trace.text, site, selection)
    found = _shelves().get(place)
    return _shelves().put(place, GridShelf(spec)) if found is None else found


def tiles_task(trace: "Trace", site: str, selection: Selection) -> Task[None]:
    """Computes the layers of `grid_shelf` that are missing, first to last, in a thread of its own."""
    shelf = grid_shelf(trace, site, selection)

    def compute(progress: Progress) -> None:
        for layer in range(shelf.spec.layers):
            if layer not in shelf.layers:
                tiles = _layer_tiles(trace, site, layer, shelf.spec)
                with shelf.lock:
                    shelf.layers[layer] = tiles
            progress(1)

    key = ("tiles", tiles_address(trace.text, site, selection))
    return Task(key, shelf.spec.layers, "layers", compute, "Computing all heads: layer {next} of {total}")


def metrics_task(
    trace: "Trace", site: str, selection: Selection
) -> Task[Mapping[str, Float[np.ndarray, "layer head"]]]:
    """Computes `derived.head_metrics`, layer by layer."""

    def compute(progress: Progress) -> Mapping[str, np.ndarray[Any, Any]]:
        return collected_metrics(trace, site, progress)

    key = ("metrics", tiles_address(trace.text, site, selection))
    return Task(key, len(trace.inputs[site]), "layers", compute)


def long_head(trace: "Trace", site: str, layer: int, head: int, selection: Selection) -> LongHead:
    """A head by the measure of the selection, between words or tokens, with or without special tokens."""
    loaded = loader.reader(selection)
    choices = (selection.common.measure, selection.common.whole_words, selection.common.special_tokens)
    place = (trace.text, site, layer, 0 if selection.common.measure == "rollout" else head)
    return _long_head(place, choices, loaded.digest, str(loaded.device), trace, loaded)


def long_row(
    trace: "Trace", site: str, layer: int, head: int, row: int, selection: Selection
) -> Float[np.ndarray, "1 column"]:
    """One row of `long_head`, exact."""
    return long_head(trace, site, layer, head, selection).source.pooled(slice(row, row + 1), slice(0, None), (1, 1))


def window(trace: "Trace", site: str, layer: int, start: int, selection: Selection) -> OpenedLayer:
    """All heads of a layer as `derived.opened_layer`, between the places from `start` on, as many as lines can join.

    In cross-attention, keys are those that lie as far along the source as the queries along the translation.
    """
    loaded = loader.reader(selection)
    choices = (selection.common.measure, selection.common.whole_words, selection.common.special_tokens)
    return _window((trace.text, site, layer, start), choices, loaded.digest, str(loaded.device), trace, loaded)


def window_length(num_heads: int) -> int:
    """Places a side between which lines are drawn."""
    return max(16, min(WINDOW, int((MAX_LINE_VALUES / num_heads) ** 0.5)))


def num_places(trace: "Trace", site: str, selection: Selection) -> int:
    """How many query places the selection has: tokens or words, with or without special tokens."""
    queries, _ = shown_axes(trace, site, words=selection.common.whole_words, special=selection.common.special_tokens)
    return len(queries.labels)


def _layer_tiles(trace: "Trace", site: str, layer: int, spec: GridSpec) -> LayerTiles:
    from model.trace.row_blocks import pooled_weights

    rows, columns = edges(spec.queries, spec.rows).tolist(), edges(spec.keys, spec.columns).tolist()
    pooled = pooled_weights(trace.attention(site, layer), rows, columns)
    return LayerTiles.of(spec, layer, pooled.maxima.numpy(), pooled.down.numpy(), pooled.across.numpy())


def _head_matrix(
    trace: "Trace", site: str, layer: int, head: int, choices: tuple[str, bool, bool], reader: "Reader"
) -> "HeadMatrix":
    from model.analysis.metrics import head_matrix, rollout

    measure, words, special = choices
    inputs = trace.attention(site, layer)
    if measure == "rollout":
        values = head_matrix.values_of(rollout.rollout_at(trace, site, layer))
    elif measure == "norms":
        values = head_matrix.norms_of(inputs, head, reader.output_projection(site, layer))
    else:
        values = head_matrix.weights_of(inputs, head)
    return head_matrix.HeadMatrix(values, *shown_axes(trace, site, words=words, special=special))


@st.cache_resource(max_entries=MAX_HEADS, show_spinner=False)
def _long_head(
    place: tuple[str, str, int, int],
    choices: tuple[str, bool, bool],
    digest: str,
    device: str,
    _trace: "Trace",
    _reader: "Reader",
) -> LongHead:
    from viz.core import fingerprint

    matrix = _head_matrix(_trace, *place[1:], choices, _reader)
    shape = len(matrix.queries.labels), len(matrix.keys.labels)
    block = -(-shape[0] // OVERVIEW_SIDE), -(-shape[1] // OVERVIEW_SIDE)
    everything = slice(0, None)
    overview = matrix.pooled(everything, everything, block).numpy()
    overview.setflags(write=False)
    top = 1.0 if choices[0] != "norms" else float(overview.max(initial=0.0)) or 1.0

    def pooled(rows: slice, columns: slice, size: tuple[int, int]) -> Float[np.ndarray, "row column"]:
        return matrix.pooled(rows, columns, size).numpy()

    address = fingerprint.digest(repr((place, choices, digest, device)))
    source = Source(address, shape, decimals_for(top), pooled)
    return LongHead(overview, block, matrix.queries, matrix.keys, top, source)


@st.cache_resource(max_entries=MAX_WINDOWS, show_spinner=False)
def _window(
    place: tuple[str, str, int, int],
    choices: tuple[str, bool, bool],
    digest: str,
    device: str,
    _trace: "Trace",
    _reader: "Reader",
) -> OpenedLayer:
    _, site, layer, start = place
    measure, words, special = choices
    heads = range(1 if measure == "rollout" else _trace.inputs[site][layer].num_heads)
    queries, keys = shown_axes(_trace, site, words=words, special=special)
    length = window_length(len(heads))
    rows = _run(start, length, len(queries.labels))
    # As far along the keys as the window is along the queries.
    along = rows.start / max(1, len(queries.labels) - length)
    columns = _run(round(along * max(0, len(keys.labels) - length)), length, len(keys.labels))
    values = np.stack(
        [_head_matrix(_trace, site, layer, head, choices, _reader).part(rows, columns).numpy() for head in heads]
    )
    values.setflags(write=False)
    return OpenedLayer(values, queries.part(rows), keys.part(columns))


def _run(start: int, length: int, count: int) -> slice:
    first = max(0, min(start, count - length))
    return slice(first, min(count, first + length))


@st.cache_resource(show_spinner=False)
def _shelves() -> BoundedCache[str, GridShelf]:
    return BoundedCache(MAX_SHELVES)
