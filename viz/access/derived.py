"""What pages show of a trace, and of the positional formula: derived by the model's own functions, computed once.

Together with `viz.access.loader` the door from the pages to the model; torch is imported in it likewise, inside
functions.
What is cached, for all viewers, is read-only and keyed by (text, checkpoint digest, device), never by arrays. Knows
nothing of widgets or figures.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import streamlit as st
from jaxtyping import Float, Int

from viz.access import loader
from viz.core import fingerprint
from viz.core.tiles import Tiles
from viz.selection.selection import Selection

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.metrics.derived_row import DerivedRow, DotProductSpread
    from model.analysis.positions.sinusoids import Likeness, RotationResidual
    from model.config import PositionLayout
    from model.trace.axes import Axis

MAX_TILES: Final = 64
MAX_LAYERS: Final = 16
MAX_DEVIATIONS: Final = 500


@dataclass(frozen=True, eq=False)
class OpenedLayer:
    """One measure of every head of a layer, between the rows and columns asked for; a rollout has one "head".

    `values` is read-only.
    """

    values: Float[np.ndarray, "head row column"]
    queries: "Axis"
    keys: "Axis"


def opened_layer(trace: "Trace", site: str, layer: int, selection: Selection) -> OpenedLayer:
    """A layer's heads by the measure of the selection, between words or tokens, with or without special tokens."""
    loaded = loader.reader(selection)
    choices = (selection.common.measure, selection.common.whole_words, selection.common.special_tokens)
    return _opened_layer(trace.text, site, layer, choices, loaded.digest, str(loaded.device), trace, loaded)


def shown_axes(trace: "Trace", site: str, *, words: bool, special: bool) -> tuple["Axis", "Axis"]:
    """The places of queries and of keys: tokens or words, with or without special tokens."""
    from model.trace import axes

    own = trace.special_tokens
    queries, keys = (
        axes.whole_words(tokens, own) if words else axes.single_tokens(tokens) for tokens in trace.axis_tokens(site)
    )
    return (queries, keys) if special else (queries.without_special_tokens(own), keys.without_special_tokens(own))


def head_tiles(text: str, site: str, selection: Selection) -> Tiles:
    """Every head of every layer of one attention site, small enough to be sent."""
    loaded = loader.reader(selection)
    return _head_tiles(text, site, loaded.digest, str(loaded.device), loader.trace(text, selection))


def tiles_address(text: str, site: str, selection: Selection) -> str:
    """A name that these tiles alone have, known before they are computed."""
    loaded = loader.reader(selection)
    return fingerprint.digest(text, site, loaded.digest, str(loaded.device))


def head_metrics(text: str, site: str, selection: Selection) -> Mapping[str, Float[np.ndarray, "layer head"]]:
    """The metrics of each head of one site (`model.analysis.metrics.head_metrics`); NaN where a head has none."""
    loaded = loader.reader(selection)
    return _head_metrics(text, site, loaded.digest, str(loaded.device), loader.trace(text, selection))


def collected_metrics(
    trace: "Trace", site: str, progress: Callable[[int], object]
) -> Mapping[str, Float[np.ndarray, "layer head"]]:
    """`head_metrics`, computed; `progress` is told of every layer."""
    from model.analysis.metrics.head_metrics import AttentionRows, head_metrics, streamed_head_metrics

    _, key_tokens = trace.axis_tokens(site)
    layers = []
    for layer in range(trace.layers_of(site)):
        if trace.knows_inputs:
            metrics = streamed_head_metrics(trace.attention(site, layer), key_tokens, site)
        else:
            metrics = head_metrics(AttentionRows(trace.weights(site, layer), trace.mask(site, layer), site, key_tokens))
        layers.append(metrics)
        progress(1)
    tables = {name: np.stack([layer[name].numpy() for layer in layers]) for name in layers[0]}
    for values in tables.values():
        values.setflags(write=False)
    return MappingProxyType(tables)


def derived_row(
    trace: "Trace", site: str, layer: int, head: int, row: int, *, scaled: bool, masked: bool
) -> "DerivedRow":
    """How one row of weights comes about, step by step, with or without the scaling and the mask."""
    from model.analysis.metrics.derived_row import derive_row

    return derive_row(trace.attention(site, layer), head, row, scaled=scaled, masked=masked)


def head_parts(
    trace: "Trace", site: str, layer: int, row: int, selection: Selection
) -> Float[np.ndarray, "head d_model"]:
    """What each head adds to the output of its site for one query row."""
    from model.analysis.metrics.derived_row import head_parts

    return head_parts(
        trace.attention(site, layer), row, loader.reader(selection).output_projection(site, layer)
    ).numpy()


def head_part(
    derived: "DerivedRow", site: str, layer: int, head: int, selection: Selection
) -> Float[np.ndarray, "d_model"]:
    """What the head would add to the output of its site with the weights of this derived row."""
    from model.analysis.metrics.derived_row import head_part

    return head_part(derived.head_output, loader.reader(selection).output_projection(site, layer)[head]).numpy()


def added_to_scores(trace: "Trace", site: str, layer: int, head: int, row: int, key: int) -> str:
    """What else a model does to the scaled score of a query and a key, in words; "" where it does nothing else."""
    inputs = trace.attention(site, layer)
    told = []
    bias = inputs.bias_rows([head], [row])
    if bias is not None:
        told.append(f"Then the model adds a bias for where the two stand: {float(bias[0, 0, key]):+.3f} for this key.")
    if inputs.softcap is not None:
        told.append(f"A soft cap keeps scores within ±{inputs.softcap:g}: c · tanh(s ÷ c).")
    if inputs.sinks is not None:
        told.append("A sink takes a part of the softmax, so the weights of a row add up to less than 1.")
    return " ".join(told)


def dot_product_spread(trace: "Trace", site: str, layer: int, head: int) -> "DotProductSpread":
    """How far the dot products of a head spread, before and after scaling."""
    from model.analysis.metrics.derived_row import dot_product_spread

    return dot_product_spread(trace.attention(site, layer), head)


def head_output_deviation(text: str, site: str, layer: int, selection: Selection) -> float:
    """Largest difference between the head outputs derived from a trace and those the model computed in that run."""
    loaded = loader.reader(selection)
    return _head_output_deviation(text, site, layer, loaded.digest, str(loaded.device), loader.trace(text, selection))


def encoding(
    num_positions: int, d_model: int, base: int, layout: "PositionLayout"
) -> Float[np.ndarray, "position d_model"]:
    """The formula's positional encodings, in float32: for the model's own settings, what it adds."""
    from model.nn.positional import sinusoidal_encoding

    return sinusoidal_encoding(num_positions, d_model, base=float(base), layout=layout).numpy()


def pair_dimensions(d_model: int, layout: "PositionLayout") -> Int[np.ndarray, "pair 2"]:
    """In which dimensions the sine and the cosine of each angle stand."""
    from model.nn import positional

    return positional.pair_dimensions(d_model, layout).numpy()


def wave(
    dimension: int, num_positions: int, d_model: int, base: int, layout: "PositionLayout"
) -> tuple[Float[np.ndarray, "sample"], Float[np.ndarray, "sample"], float]:
    """One dimension of the formula between the positions too: where, how much, and its wavelength in positions."""
    from model.analysis.positions.sinusoids import dimension_wave, wavelengths

    where, values = dimension_wave(dimension, num_positions, d_model, base=float(base), layout=layout)
    (pair,), _ = np.nonzero(pair_dimensions(d_model, layout) == dimension)
    return where.numpy(), values.numpy(), float(wavelengths(d_model, base=float(base))[pair])


def shift_rotation(
    shift: int, num_positions: int, d_model: int, base: int
) -> tuple[Float[np.ndarray, "pair 2 2"], "RotationResidual"]:
    """The rotations that shift a position, one a pair of dimensions, and how far they miss over all positions."""
    from model.analysis.positions.sinusoids import rotation, rotation_residual

    residual = rotation_residual(num_positions, d_model, shift=shift, base=float(base))
    return rotation(shift, d_model, base=float(base)).numpy(), residual


def products_at_distances(count: int, d_model: int, base: int) -> Float[np.ndarray, "distance"]:
    """PE(p) · PE(p+k) of the formula for every distance k below `count`."""
    from model.analysis.positions import sinusoids

    return sinusoids.products_at_distances(count, d_model, base=float(base)).numpy()


def likeness(
    rows: Float[np.ndarray, "position width"], positional: Float[np.ndarray, "position d_model"]
) -> "Likeness":
    """How alike the rows of a sentence are, pair by pair, and how much of that their positions explain."""
    from model.analysis.positions.sinusoids import compare_rows

    return compare_rows(rows, positional)


@st.cache_resource(max_entries=MAX_LAYERS, show_spinner=False)
def _opened_layer(
    text: str,
    site: str,
    layer: int,
    choices: tuple[str, bool, bool],
    digest: str,
    device: str,
    _trace: "Trace",
    _reader: "Reader",
) -> OpenedLayer:
    from model.analysis.metrics import norms, rollout
    from model.trace import axes

    measure, words, special = choices
    if measure == "rollout":
        values = rollout.rollout_at(_trace, site, layer)[None]
    elif measure == "norms":
        inputs = _trace.attention(site, layer)
        output_projection = _reader.output_projection(site, layer)
        values = norms.value_weighted_norms(inputs.scores_and_weights().weights, inputs.values(), output_projection)
    else:
        values = _trace.weights(site, layer)
    queries, keys = shown_axes(_trace, site, words=words, special=special)
    shown = axes.between(values, queries, keys).numpy()
    shown.setflags(write=False)
    return OpenedLayer(shown, queries, keys)


@st.cache_resource(max_entries=MAX_TILES, show_spinner=False)
def _head_tiles(text: str, site: str, digest: str, device: str, _trace: "Trace") -> Tiles:
    queries, keys = map(len, _trace.axis_tokens(site))
    layers, heads = _trace.shapes[site]
    return Tiles.of((layers, heads, queries, keys), (_trace.weights(site, layer).numpy() for layer in range(layers)))


@st.cache_resource(max_entries=MAX_TILES, show_spinner=False)
def _head_metrics(
    text: str, site: str, digest: str, device: str, _trace: "Trace"
) -> Mapping[str, np.ndarray[Any, Any]]:
    return collected_metrics(_trace, site, lambda done: None)


@st.cache_data(max_entries=MAX_DEVIATIONS, show_spinner=False)
def _head_output_deviation(text: str, site: str, layer: int, digest: str, device: str, _trace: "Trace") -> float:
    return _trace.head_output_deviation(site, layer)
