"""Derive from a trace what pages show of its attention: layers, tiles, metrics of heads, one weight.

Everything is computed by the model's own functions, once for all viewers; results are read-only.

Of a text too long for whole matrices pages show it pooled, or the part that is looked at: `shown_layer` and below hold
no n × n numbers of more than one head, and of one head only a rollout.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import streamlit as st
from jaxtyping import Float

from model import later
from viz.pictures import focus
from viz.pictures.payload import fingerprint
from viz.pictures.tiles.codes import GridSpec, LayerTiles, Source, Tiles, decimals_for, edges
from viz.selection.choices import Common, Measure
from viz.server.background_jobs import Progress, Task
from viz.server.caches import BoundedCache, cache_key, cached
from viz.text.messages import _, in_a_row, said
from viz.text.written import signed

if TYPE_CHECKING:
    from torch import Tensor

    from model import Reader, Trace
    from model.analysis.metrics.derived_row import DerivedRow, DotProductSpread
    from model.analysis.metrics.measures import HeadMatrix
    from model.trace.axes import Axis

MAX_TILES: Final = 64
MAX_LAYERS: Final = 16
MAX_AXES: Final = 64
MAX_DEVIATIONS: Final = 500


@dataclass(frozen=True, slots=True)
class MatrixView:
    """What the numbers of an open head are, and between what."""

    measure: Measure  #: the weights themselves, value-weighted norms, or a rollout
    whole_words: bool  #: whether the pieces of a word are joined
    sinks: bool  #: whether keys are shown on which heads rest that have nothing to do (`Trace.sinks`)

    @classmethod
    def of(cls, common: Common) -> Self:
        """What a person has chosen."""
        return cls(common.measure, common.whole_words, common.sinks)


@dataclass(frozen=True, eq=False)
class OpenedLayer:
    """One measure (read-only) of every head of a layer, between some rows and columns; a rollout has one "head"."""

    values: Float[np.ndarray, "head row column"]
    queries: "Axis"
    keys: "Axis"


@cached(max_entries=MAX_LAYERS)
def opened_layer(trace: "Trace", reader: "Reader", site: str, layer: int, view: MatrixView) -> OpenedLayer:
    """A layer's heads by a measure, between words or tokens, with or without sinks."""
    values = _measured(trace, reader, site, layer, view.measure)
    queries, keys = shown_axes(trace, site, view)
    shown = later.axes.between(values, queries, keys).numpy()
    shown.setflags(write=False)
    return OpenedLayer(shown, queries, keys)


def _measured(
    trace: "Trace", reader: "Reader", site: str, layer: int, measure: Measure
) -> "Float[Tensor, 'head query key']":
    """A measure of every head of a layer between all tokens; a rollout has one "head"."""
    if measure == "rollout":
        return later.measures.rollout_at(trace, site, layer)[None]
    if measure == "norms":
        inputs = trace.attention(site, layer)
        output_projection = reader.output_projection(site, layer)
        return later.measures.value_weighted_norms(
            inputs.scores_and_weights().weights, inputs.values(), output_projection
        )
    return trace.weights(site, layer)


@cached(max_entries=MAX_AXES)
def shown_axes(trace: "Trace", site: str, view: MatrixView) -> tuple["Axis", "Axis"]:
    """The rows and the columns: tokens or words, with or without sinks."""
    return trace.axes(site, whole_words=view.whole_words, sinks=view.sinks)


def focus_axes(trace: "Trace", site: str) -> focus.Axes:
    """By which tokens pictures know the rows and the columns of a site."""
    return focus.axes(site, rows_write=trace.rows_write(site))


def alone(axis: focus.FocusAxis, trace: "Trace") -> focus.FocusAxis:
    """The axis under a name that only pictures of the same tokens share: those of other texts do not answer it."""
    tokens = trace.source_tokens if axis.side == "source" else trace.target_tokens
    return focus.of_text(axis, fingerprint(*tokens))


def is_plain(trace: "Trace", site: str, view: MatrixView) -> bool:
    """Whether an open head shows its weights between all single tokens, as its tile does."""
    axes = zip(shown_axes(trace, site, view), trace.axis_tokens(site), strict=True)
    return view.measure == "weights" and all(len(axis.groups) == len(tokens) for axis, tokens in axes)


def has_words_of_several(trace: "Trace", site: str) -> bool:
    """Whether a word that is read at a site has several tokens, so that whole words are another view."""
    return not is_plain(trace, site, MatrixView("weights", whole_words=True, sinks=True))


def has_runs(trace: "Trace", site: str) -> bool:
    """Whether a side of a site has tokens that no white space separates and that form no word, and so stay apart."""
    texts = (
        tokens for tokens in trace.axis_tokens(site) if trace.source.has_words or tokens is not trace.source_tokens
    )
    return any(later.axes.has_runs(tokens, trace.special_tokens) for tokens in texts)


@dataclass(frozen=True, eq=False)
class MeasuredTiles:
    """The tiles of a site by a measure, as parts of its largest number."""

    tiles: Tiles
    top: float


@cached(max_entries=MAX_DEVIATIONS)
def held_by_sinks(trace: "Trace", site: str, layer: int) -> Float[np.ndarray, "head"]:
    """The part of the weight of each head of a layer that sinks hold, on average over all rows."""
    queries, keys = map(len, trace.axis_tokens(site))
    columns, total = list(trace.sinks(site)), np.zeros(trace.inputs[site][layer].num_heads)
    for rows in later.row_blocks.row_slices(0, queries, len(total) * keys):
        total += trace.weights(site, layer, rows=rows)[:, :, columns].sum((1, 2)).numpy()
    return total / queries


@cached(max_entries=MAX_TILES)
def head_tiles(
    trace: "Trace", reader: "Reader", site: str, measure: Measure = "weights", *, sinks: bool = True
) -> MeasuredTiles:
    """Every head of every layer of one attention site, small enough to be sent; of a rollout one tile a layer.

    Without sinks, their columns are empty.
    """
    queries, keys = map(len, trace.axis_tokens(site))
    layers, heads = trace.shapes[site]
    top, columns = 1.0, [] if sinks else list(trace.sinks(site))

    def measured(layer: int) -> Float[np.ndarray, "head query key"]:
        values = _measured(trace, reader, site, layer, measure).numpy().copy()
        values[..., columns] = 0.0
        return values

    if measure == "norms":
        top = max(float(measured(layer).max()) for layer in range(layers)) or 1.0
    values = (measured(layer) / np.float32(top) for layer in range(layers))
    return MeasuredTiles(Tiles.of((layers, 1 if measure == "rollout" else heads, queries, keys), values), top)


def tiles_key(trace: "Trace", site: str, measure: Measure = "weights", *, sinks: bool = True) -> str:
    """A name that the tiles of this site by this measure alone have, known before they are computed."""
    return fingerprint(trace.key, site, measure, *([] if sinks else ["without sinks"]))


@cached(max_entries=MAX_TILES)
def head_metrics(trace: "Trace", site: str, *, sinks: bool = True) -> Mapping[str, Float[np.ndarray, "layer head"]]:
    """The metrics of each head of one site (`model.analysis.metrics.head_metrics`); NaN where a head has none."""
    return collect_head_metrics(trace, site, lambda done: None, sinks=sinks)


def collect_head_metrics(
    trace: "Trace", site: str, progress: Callable[[int], object], *, sinks: bool
) -> Mapping[str, Float[np.ndarray, "layer head"]]:
    """`head_metrics`, computed; `progress` is sentences of every layer."""
    key_tokens, left_out = trace.axis_tokens(site)[1], () if sinks else trace.sinks(site)
    layers = []
    for layer in range(trace.layers_of(site)):
        if trace.knows_inputs:
            metrics = later.head_metrics.streamed_head_metrics(trace.attention(site, layer), key_tokens, site, left_out)
        else:
            rows = later.head_metrics.AttentionRows(
                trace.weights(site, layer), trace.mask(site, layer), site, key_tokens
            )
            metrics = later.head_metrics.head_metrics(rows.without(left_out))
        layers.append(metrics)
        progress(1)
    tables = {name: np.stack([layer[name].numpy() for layer in layers]) for name in layers[0]}
    for values in tables.values():
        values.setflags(write=False)
    return MappingProxyType(tables)


def all_weights(
    trace: "Trace", site: str, rows: slice = slice(None), *, sinks: bool = True
) -> Float[np.ndarray, "layer head query key"]:
    """All weights of a site, or of these rows; without sinks, 0 on these.

    Raises a ValueError if its layers have different numbers of heads.
    """
    layers = [trace.weights(site, layer, rows=rows).numpy() for layer in range(trace.layers_of(site))]
    if len({of_layer.shape for of_layer in layers}) > 1:
        raise ValueError("The layers of this attention have different numbers of heads; pass one layer's weights.")
    weights = np.stack(layers)
    if not sinks:
        weights[..., list(trace.sinks(site))] = 0.0
    return weights


def cell_weights(
    trace: "Trace", site: str, rows: Sequence[int], keys: Sequence[int]
) -> Float[np.ndarray, "layer head"]:
    """What some queries give some keys together, on average, in every head of a site; NaN where there is no head."""
    layers, heads = trace.shapes[site]
    values = np.full((layers, heads), np.nan)
    for layer in range(layers):
        weights = trace.weights(site, layer, rows=list(rows))[:, :, list(keys)].sum(2).mean(1).numpy()
        values[layer, : len(weights)] = weights
    return values


def derived_row(
    trace: "Trace", site: str, layer: int, head: int, row: int, *, scaled: bool, masked: bool
) -> "DerivedRow":
    """How one row of weights comes about, step by step, with or without the scaling and the mask."""
    return later.derived_row.derive_row(trace.attention(site, layer), head, row, scaled=scaled, masked=masked)


def row_that_scaling_changes(trace: "Trace", site: str, layer: int, head: int) -> int:
    """The row of a head whose weights are most others where the scores are not divided by √dₖ."""
    inputs = trace.attention(site, layer)
    divided, not_divided = (of.weights([head])[0] for of in (inputs, replace(inputs, scale=1.0)))
    return int((divided - not_divided).abs().sum(-1).argmax())


def head_parts(trace: "Trace", reader: "Reader", site: str, layer: int, row: int) -> Float[np.ndarray, "head d_model"]:
    """What each head adds to the output of its site for one query row."""
    return later.derived_row.head_parts(
        trace.attention(site, layer), row, reader.output_projection(site, layer)
    ).numpy()


def head_part(
    derived: "DerivedRow", reader: "Reader", site: str, layer: int, head: int
) -> Float[np.ndarray, "d_model"]:
    """What the head would add to the output of its site with the weights of this derived row."""
    return (derived.head_output @ reader.output_projection(site, layer)[head]).numpy()


def added_to_scores(trace: "Trace", site: str, layer: int, head: int, row: int, key: int) -> str:
    """What else a model does to the scaled score of a query and a key, in words; "" where it does nothing else."""
    inputs = trace.attention(site, layer)
    sentences = []
    bias = inputs.bias_rows([head], [row])
    if bias is not None:
        message = "Then the model adds a bias for the distance between query and key: {bias} for this key."
        sentences.append(_(message, bias=signed(float(bias[0, 0, key]), 3)))
    if inputs.softcap is not None:
        sentences.append(_("A soft cap keeps scores within ±{cap:g}: c · tanh(s ÷ c).", cap=inputs.softcap))
    if inputs.sinks is not None:
        sentences.append(_("A sink takes a part of the softmax, so the weights of a row sum to less than 1."))
    return in_a_row(sentences)


def dot_product_spread(trace: "Trace", site: str, layer: int, head: int) -> "DotProductSpread":
    """How far the dot products of a head spread, before and after scaling."""
    return later.derived_row.dot_product_spread(trace.attention(site, layer), head)


@cached(max_entries=MAX_DEVIATIONS)
def output_check(trace: "Trace", site: str, layer: int) -> tuple[float, float]:
    """How far a layer's head outputs, derived from a trace, are from the model's at most; what rounding explains."""
    return trace.head_output_deviation(site, layer), trace.head_output_tolerance(site, layer)


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


def can_ask_why(trace: "Trace", reader: "Reader") -> bool:
    """Whether it can be asked of a trace's weights why a head looks there; a longer text would take seconds a step."""
    longest = max(len(trace.source.spans()), len(trace.target_tokens))
    return reader.abilities.has("reasons") and longest <= SHORT and not trace.edits


def grid_of(trace: "Trace", site: str) -> Grid:
    """Where the tiles of a site are, as far as they are computed."""
    queries, keys = map(len, trace.axis_tokens(site))
    layers = trace.inputs[site]
    spec = GridSpec.of((len(layers), layers[0].num_heads, queries, keys))
    key = tiles_key(trace, site)
    known = _grids().get(key)
    return _grids().put(key, Grid(spec)) if known is None else known


def tiles_task(trace: "Trace", site: str) -> Task[None]:
    """Computes the layers of `grid_of` that are missing, first to last, in a separate thread."""
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


def metrics_task(trace: "Trace", site: str, *, sinks: bool) -> Task[Mapping[str, Float[np.ndarray, "layer head"]]]:
    """Computes `attention.head_metrics`, layer by layer."""

    def compute(progress: Progress) -> Mapping[str, Float[np.ndarray, "layer head"]]:
        return collect_head_metrics(trace, site, progress, sinks=sinks)

    return Task(("head metrics", tiles_key(trace, site, sinks=sinks)), len(trace.inputs[site]), said("layers"), compute)


def long_head(trace: "Trace", reader: "Reader", site: str, layer: int, head: int, view: MatrixView) -> LongHead:
    """A head by a measure, between words or tokens, with or without sinks; a rollout has one for all."""
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
    columns = _run(round(along * (len(keys.labels) - length)), length, len(keys.labels))
    values = np.stack(
        [_head_matrix(trace, reader, site, layer, head, view).part(rows, columns).numpy() for head in heads]
    )
    values.setflags(write=False)
    return OpenedLayer(values, queries.part(rows), keys.part(columns))


def window_length(num_heads: int) -> int:
    """Queries, and keys, between which lines are drawn."""
    return max(16, min(WINDOW, int((MAX_LINE_VALUES / num_heads) ** 0.5)))


def num_queries(trace: "Trace", site: str, view: MatrixView) -> int:
    """How many queries are shown: tokens or words, with or without sinks."""
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
