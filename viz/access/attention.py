"""Derive from a trace what pages show of its attention: layers, tiles, metrics of heads, the way to one weight.

Everything is computed by the model's own functions, once for all viewers; results are read-only.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from jaxtyping import Float

from model import later
from viz.pictures.payload import fingerprint
from viz.pictures.tiles.codes import Tiles
from viz.selection.choices import Common, Measure
from viz.server.caches import cached
from viz.text.messages import _
from viz.text.written import CROSS, signed

if TYPE_CHECKING:
    from torch import Tensor

    from model import Reader, Trace
    from model.analysis.metrics.derived_row import DerivedRow, DotProductSpread
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
    special_tokens: bool  #: whether special tokens are shown

    @classmethod
    def of(cls, common: Common) -> Self:
        """What a person has chosen."""
        return cls(common.measure, common.whole_words, common.special_tokens)


@dataclass(frozen=True, eq=False)
class OpenedLayer:
    """One measure (read-only) of every head of a layer, between some rows and columns; a rollout has one "head"."""

    values: Float[np.ndarray, "head row column"]
    queries: "Axis"
    keys: "Axis"


@cached(max_entries=MAX_LAYERS)
def opened_layer(trace: "Trace", reader: "Reader", site: str, layer: int, view: MatrixView) -> OpenedLayer:
    """A layer's heads by a measure, between words or tokens, with or without special tokens."""
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
    """The rows and the columns: tokens or words, with or without special tokens."""
    own = trace.special_tokens
    if view.whole_words:
        queries, keys = (later.axes.whole_words(tokens, own) for tokens in trace.axis_tokens(site))
    else:
        queries, keys = map(later.axes.single_tokens, trace.axis_names(site))
    rows, columns = queries, keys
    if not view.special_tokens:
        rows, columns = (axis.without_special_tokens(own) for axis in (queries, keys))
    named = rows.named_by_what_follows(queries, trace.written_tokens(site))
    return named.writing() if site == CROSS else named, columns


def is_plain(trace: "Trace", site: str, view: MatrixView) -> bool:
    """Whether an open head shows its weights between all single tokens, as its tile does."""
    axes = zip(shown_axes(trace, site, view), trace.axis_tokens(site), strict=True)
    return view.measure == "weights" and all(len(axis.groups) == len(tokens) for axis, tokens in axes)


def has_words_of_several(trace: "Trace", site: str) -> bool:
    """Whether a word that is read at a site has several tokens, so that whole words are another view."""
    return not is_plain(trace, site, MatrixView("weights", whole_words=True, special_tokens=True))


@dataclass(frozen=True, eq=False)
class MeasuredTiles:
    """The tiles of a site by a measure, as parts of its largest number."""

    tiles: Tiles
    top: float


@cached(max_entries=MAX_TILES)
def head_tiles(trace: "Trace", reader: "Reader", site: str, measure: Measure = "weights") -> MeasuredTiles:
    """Every head of every layer of one attention site, small enough to be sent; of a rollout one tile a layer."""
    queries, keys = map(len, trace.axis_tokens(site))
    layers, heads = trace.shapes[site]
    top = 1.0
    if measure == "norms":
        top = max(float(_measured(trace, reader, site, layer, measure).max()) for layer in range(layers)) or 1.0
    values = (_measured(trace, reader, site, layer, measure).numpy() / np.float32(top) for layer in range(layers))
    return MeasuredTiles(Tiles.of((layers, 1 if measure == "rollout" else heads, queries, keys), values), top)


def tiles_key(trace: "Trace", site: str, measure: Measure = "weights") -> str:
    """A name that the tiles of this site by this measure alone have, known before they are computed."""
    return fingerprint(trace.key, site, measure)


@cached(max_entries=MAX_TILES)
def head_metrics(trace: "Trace", site: str) -> Mapping[str, Float[np.ndarray, "layer head"]]:
    """The metrics of each head of one site (`model.analysis.metrics.head_metrics`); NaN where a head has none."""
    return collect_head_metrics(trace, site, lambda done: None)


def collect_head_metrics(
    trace: "Trace", site: str, progress: Callable[[int], object]
) -> Mapping[str, Float[np.ndarray, "layer head"]]:
    """`head_metrics`, computed; `progress` is sentences of every layer."""
    key_tokens = trace.axis_tokens(site)[1]
    layers = []
    for layer in range(trace.layers_of(site)):
        if trace.knows_inputs:
            metrics = later.head_metrics.streamed_head_metrics(trace.attention(site, layer), key_tokens, site)
        else:
            metrics = later.head_metrics.head_metrics(
                later.head_metrics.AttentionRows(trace.weights(site, layer), trace.mask(site, layer), site, key_tokens)
            )
        layers.append(metrics)
        progress(1)
    tables = {name: np.stack([layer[name].numpy() for layer in layers]) for name in layers[0]}
    for values in tables.values():
        values.setflags(write=False)
    return MappingProxyType(tables)


def all_weights(trace: "Trace", site: str) -> Float[np.ndarray, "layer head query key"]:
    """All weights of a site. Raises a ValueError if its layers have different numbers of heads."""
    layers = [trace.weights(site, layer).numpy() for layer in range(trace.layers_of(site))]
    if len({of_layer.shape for of_layer in layers}) > 1:
        raise ValueError("The layers of this attention have different numbers of heads; give one layer's weights.")
    return np.stack(layers)


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
        message = "Then the model adds a bias for the distance between the two: {bias} for this key."
        sentences.append(_(message, bias=signed(float(bias[0, 0, key]), 3)))
    if inputs.softcap is not None:
        sentences.append(_("A soft cap keeps scores within ±{cap:g}: c · tanh(s ÷ c).", cap=inputs.softcap))
    if inputs.sinks is not None:
        sentences.append(_("A sink takes a part of the softmax, so the weights of a row sum to less than 1."))
    return " ".join(sentences)


def dot_product_spread(trace: "Trace", site: str, layer: int, head: int) -> "DotProductSpread":
    """How far the dot products of a head spread, before and after scaling."""
    return later.derived_row.dot_product_spread(trace.attention(site, layer), head)


@cached(max_entries=MAX_DEVIATIONS)
def output_check(trace: "Trace", site: str, layer: int) -> tuple[float, float]:
    """How far a layer's head outputs, derived from a trace, are from the model's at most; what rounding explains."""
    return trace.head_output_deviation(site, layer), trace.head_output_tolerance(site, layer)
