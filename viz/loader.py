"""The only door from the pages to the model: loaded translators, finished traces and what a checkpoint says of itself.

torch is imported here, inside the functions that need it, so that a page is on the screen before torch is in memory.
What is cached, for all viewers, is read-only; traces are keyed by (text, checkpoint digest, device), never by arrays.
Knows nothing of widgets or figures.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from model.config import PRESETS, TransformerConfig
from model.errors import CheckpointError
from model.parameters import ParameterCounts, count_parameters
from model.record import Metrics, Training, TrainingLog, read_card, read_log, read_metrics, read_training
from viz.components.head_tiles import Tiles
from viz.state import Selection

if TYPE_CHECKING:
    from model import BatchMasks, Trace, Translator
    from model.analysis.axes import Axis
    from model.analysis.origin import DerivedRow, DotProductSpread
    from model.analysis.positions import Likeness, RotationResidual

ROOT_VARIABLE: Final = "HEADLIGHT_CHECKPOINTS"
Progress = Callable[[int, int], None]
MAX_TRANSLATORS, MAX_TRACES, MAX_GRIDS, MAX_LAYERS, MAX_TRANSLATIONS = 4, 64, 8, 16, 500
MAX_DEVIATIONS: Final = 500


@dataclass(frozen=True, eq=False)
class OpenedLayer:
    """One measure of every head of a layer, between the rows and columns asked for; a rollout has one "head".

    `values` is read-only.
    """

    values: Float[np.ndarray, "head row column"]
    queries: "Axis"
    keys: "Axis"


def checkpoint_root() -> Path:
    """The folder whose sub-folders are checkpoints: `checkpoints/`, or what HEADLIGHT_CHECKPOINTS names."""
    default = Path(__file__).parents[1] / "checkpoints"
    return Path(os.environ.get(ROOT_VARIABLE) or default)


def checkpoint_names() -> list[str]:
    """The checkpoints one can choose from, in order. A damaged one is listed too, so that its message can be read."""
    root = checkpoint_root()
    if not root.is_dir():
        return []
    return sorted(path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "_")))


def translator(selection: Selection) -> "Translator":
    """The translator of the chosen checkpoint and device, loaded once for all viewers.

    Raises:
        CheckpointError: there is no checkpoint, or it is damaged.
        DeviceError: the device asked for does not exist here.
    """
    from model.device import choose_device

    folder = _folder(selection)
    device = choose_device(None if selection.device == "auto" else selection.device)
    return _translator(str(folder), _stamp(folder), str(device))


def trace(text: str, selection: Selection, progress: Progress = lambda written, most: None) -> "Trace":
    """What the model did with a text, computed once for all viewers. Raises what `translator` and the model raise.

    Args:
        text: the sentence as typed.
        selection: says which checkpoint and device.
        progress: called after every token with the number of tokens written and the most there can be.
    """
    loaded = translator(selection)
    known, place = _traces(), (text, loaded.digest, str(loaded.device))
    found = known.get(place)
    if found is None:
        # Real head outputs cost no time that can be measured and a fifth to a quarter more memory; against them, the
        # page that derives weights proves what it shows.
        session = loaded.decode(text, extras={"hook_head_output"})
        while not session.finished:
            session.step()
            progress(len(session.steps), session.max_steps)
        found = known.put(place, session.trace())
    return found


def all_weights(text: str, site: str, selection: Selection) -> Float[np.ndarray, "layer head query key"]:
    """The weights of every head of every layer of one attention site; read-only."""
    loaded = translator(selection)
    return _all_weights(text, site, loaded.digest, str(loaded.device), trace(text, selection))


def identity(selection: Selection) -> tuple[str, str]:
    """The name and the digest of the chosen checkpoint."""
    loaded = translator(selection)
    return loaded.name, loaded.digest


def trace_file(trace: "Trace") -> bytes:
    """A trace with all its weights, as `python -m model trace` writes it."""
    from model.trace_file import weight_arrays, write_trace

    file = BytesIO()
    write_trace(trace, file, weight_arrays(trace))
    return file.getvalue()


def trace_file_size(trace: "Trace") -> int:
    """About how many bytes `trace_file` will return."""
    from model.trace_file import expected_bytes

    return expected_bytes(trace)


def derived_row(
    trace: "Trace", site: str, layer: int, head: int, row: int, *, scaled: bool, masked: bool
) -> "DerivedRow":
    """How one row of weights comes about, step by step, with or without the scaling and the mask."""
    from model.analysis.origin import derive_row

    return derive_row(trace.attention(site, layer), head, row, scaled=scaled, masked=masked)


def head_parts(
    trace: "Trace", site: str, layer: int, row: int, selection: Selection
) -> Float[np.ndarray, "head d_model"]:
    """What each head adds to the output of its site for one query row."""
    from model.analysis.origin import head_parts

    return head_parts(trace.attention(site, layer), row, translator(selection).output_projection(site, layer)).numpy()


def head_part(
    derived: "DerivedRow", site: str, layer: int, head: int, selection: Selection
) -> Float[np.ndarray, "d_model"]:
    """What the head would add to the output of its site with the weights of this derived row."""
    from model.analysis.origin import head_part

    return head_part(derived.head_output, translator(selection).output_projection(site, layer)[head]).numpy()


def dot_product_spread(trace: "Trace", site: str, layer: int, head: int) -> "DotProductSpread":
    """How far the dot products of a head spread, before and after scaling."""
    from model.analysis.origin import dot_product_spread

    return dot_product_spread(trace.attention(site, layer), head)


def head_output_deviation(text: str, site: str, layer: int, selection: Selection) -> float:
    """Largest difference between the head outputs derived from a trace and those the model computed in that run."""
    loaded = translator(selection)
    return _head_output_deviation(text, site, layer, loaded.digest, str(loaded.device), trace(text, selection))


def head_tiles(text: str, site: str, selection: Selection) -> Tiles:
    """Every head of every layer of one attention site, small enough to be sent."""
    loaded = translator(selection)
    return _head_tiles(text, site, loaded.digest, str(loaded.device), trace(text, selection))


def head_figures(text: str, site: str, selection: Selection) -> Mapping[str, Float[np.ndarray, "layer head"]]:
    """What each head of one attention site does, in numbers (`model.analysis.head_figures`); NaN where it has none."""
    loaded = translator(selection)
    return _head_figures(text, site, loaded.digest, str(loaded.device), trace(text, selection))


def opened_layer(trace: "Trace", site: str, layer: int, selection: Selection) -> OpenedLayer:
    """A layer's heads by the measure of the selection, between words or tokens, with or without special tokens."""
    loaded = translator(selection)
    choices = (selection.measure, selection.words, selection.special)
    return _opened_layer(trace.text, site, layer, choices, loaded.digest, str(loaded.device), trace, loaded)


def masks(texts: tuple[str, ...], selection: Selection) -> "BatchMasks":
    """The masks of texts that share a batch, as the model uses them."""
    loaded = translator(selection)
    return _masks(texts, loaded.digest, str(loaded.device), loaded)


def encoding(num_positions: int, d_model: int, base: int) -> Float[np.ndarray, "position d_model"]:
    """The formula's positional encodings, in float32: for the model's own settings, what it adds."""
    from model.positional import sinusoidal_encoding

    return sinusoidal_encoding(num_positions, d_model, base=float(base)).numpy()


def wave(
    dimension: int, num_positions: int, d_model: int, base: int
) -> tuple[Float[np.ndarray, "sample"], Float[np.ndarray, "sample"], float]:
    """One dimension of the formula between the positions too: where, how much, and its wavelength in positions."""
    from model.analysis.positions import dimension_wave, wavelengths

    where, values = dimension_wave(dimension, num_positions, d_model, base=float(base))
    return where.numpy(), values.numpy(), float(wavelengths(d_model, base=float(base))[dimension // 2])


def shift_rotation(
    shift: int, num_positions: int, d_model: int, base: int
) -> tuple[Float[np.ndarray, "pair 2 2"], "RotationResidual"]:
    """The rotations that shift a position, one a pair of dimensions, and how far they miss over all positions."""
    from model.analysis.positions import rotation, rotation_residual

    residual = rotation_residual(num_positions, d_model, shift=shift, base=float(base))
    return rotation(shift, d_model, base=float(base)).numpy(), residual


def products_at_distances(count: int, d_model: int, base: int) -> Float[np.ndarray, "distance"]:
    """PE(p) · PE(p+k) of the formula for every distance k below `count`."""
    from model.analysis import positions

    return positions.products_at_distances(count, d_model, base=float(base)).numpy()


def likeness(
    rows: Float[np.ndarray, "position width"], positional: Float[np.ndarray, "position d_model"]
) -> "Likeness":
    """How alike the rows of a sentence are, pair by pair, and how much of that their positions explain."""
    from model.analysis.positions import compare_rows

    return compare_rows(rows, positional)


def translation(text: str, selection: Selection) -> str:
    """The greedy translation of a text, without a trace. Raises what `translator` and the model raise."""
    loaded = translator(selection)
    return _translation(text, loaded.digest, str(loaded.device), loaded)


def shapes(selection: Selection) -> list[tuple[str, TransformerConfig, ParameterCounts]]:
    """Name, configuration and parameters of the chosen checkpoint, then of the paper's two models."""
    loaded = translator(selection)
    papers = [(f"{name} (paper)", PRESETS[name]) for name in ("base", "big")]
    return [(name, config, count_parameters(config)) for name, config in [(loaded.name, loaded.config), *papers]]


def vocabulary(selection: Selection) -> tuple[str, ...]:
    """Every piece of the vocabulary, in the order of their ids."""
    loaded = translator(selection)
    return _vocabulary(loaded.digest, loaded)


def training(selection: Selection) -> Training | None:
    """What the checkpoint says it was trained on; None where it says nothing. Raises a CheckpointError if malformed."""
    return read_training(_folder(selection))


def training_log(selection: Selection) -> TrainingLog | None:
    """The curves of the checkpoint's training run, as `training`."""
    return read_log(_folder(selection))


def metrics(selection: Selection) -> Metrics | None:
    """What was measured with the checkpoint, as `training`."""
    return read_metrics(_folder(selection))


def card(selection: Selection) -> str | None:
    """The checkpoint's card, as `training`; a text that may hold anything."""
    return read_card(_folder(selection))


def _folder(selection: Selection) -> Path:
    names = checkpoint_names()
    name = selection.checkpoint or next(iter(names), "")
    if name not in names:
        raise CheckpointError(
            f"There is no checkpoint in {checkpoint_root().name}/. Train one with `python -m model train`, "
            f"or name a folder of checkpoints in the environment variable {ROOT_VARIABLE}."
        )
    return checkpoint_root() / name


def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Changes when any file of a checkpoint does, so that a damaged one is read, and refused, instead of remembered."""
    stats = ((path.name, path.stat()) for path in sorted(folder.iterdir()))
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


@st.cache_resource(max_entries=MAX_TRANSLATORS, show_spinner=False)
def _translator(folder: str, stamp: tuple[tuple[str, int, int], ...], device: str) -> "Translator":
    from model import Translator

    return Translator.load(folder, device=device)


class TraceStore:
    """The traces used last, for all viewers: `cache_resource`, but what that calls may not move a progress bar."""

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._traces: OrderedDict[tuple[str, str, str], Trace] = OrderedDict()
        self._lock = Lock()

    def get(self, place: tuple[str, str, str]) -> "Trace | None":
        """The trace of (text, checkpoint digest, device), if it is still there."""
        with self._lock:
            if place in self._traces:
                self._traces.move_to_end(place)
            return self._traces.get(place)

    def put(self, place: tuple[str, str, str], trace: "Trace") -> "Trace":
        """Keep a trace, and return the one that is kept: another viewer may have been first."""
        with self._lock:
            kept = self._traces.setdefault(place, trace)
            while len(self._traces) > self._max_entries:
                self._traces.popitem(last=False)
            return kept


@st.cache_resource(show_spinner=False)
def _traces() -> TraceStore:
    return TraceStore(MAX_TRACES)


@st.cache_resource(max_entries=MAX_GRIDS, show_spinner=False)
def _all_weights(text: str, site: str, digest: str, device: str, _trace: "Trace") -> np.ndarray[Any, Any]:
    weights = np.stack([_trace.weights(site, layer).numpy() for layer in range(_trace.num_layers)])
    weights.setflags(write=False)
    return weights


@st.cache_data(max_entries=MAX_DEVIATIONS, show_spinner=False)
def _head_output_deviation(text: str, site: str, layer: int, digest: str, device: str, _trace: "Trace") -> float:
    return _trace.head_output_deviation(site, layer)


@st.cache_resource(max_entries=MAX_TRACES, show_spinner=False)
def _head_tiles(text: str, site: str, digest: str, device: str, _trace: "Trace") -> Tiles:
    queries, keys = map(len, _trace.axis_tokens(site))
    shape = (_trace.num_layers, _trace.num_heads, queries, keys)
    return Tiles.of(shape, (_trace.weights(site, layer).numpy() for layer in range(_trace.num_layers)))


@st.cache_resource(max_entries=MAX_TRACES, show_spinner=False)
def _head_figures(
    text: str, site: str, digest: str, device: str, _trace: "Trace"
) -> Mapping[str, np.ndarray[Any, Any]]:
    from model.analysis.head_figures import head_figures

    _, key_tokens = _trace.axis_tokens(site)
    is_self = site.endswith(".self")
    layers = [
        head_figures(_trace.weights(site, layer), _trace.mask(site, layer), key_tokens, is_self=is_self)
        for layer in range(_trace.num_layers)
    ]
    figures = {name: np.stack([layer[name].numpy() for layer in layers]) for name in layers[0]}
    for values in figures.values():
        values.setflags(write=False)
    return MappingProxyType(figures)


@st.cache_resource(max_entries=MAX_LAYERS, show_spinner=False)
def _opened_layer(
    text: str,
    site: str,
    layer: int,
    choices: tuple[str, bool, bool],
    digest: str,
    device: str,
    _trace: "Trace",
    _translator: "Translator",
) -> OpenedLayer:
    from model.analysis import axes, norms, rollout

    measure, words, special = choices
    if measure == "rollout":
        values = rollout.rollout_at(_trace, site, layer)[None]
    elif measure == "norms":
        inputs = _trace.attention(site, layer)
        output_projection = _translator.output_projection(site, layer)
        values = norms.value_weighted_norms(inputs.scores_and_weights().weights, inputs.values(), output_projection)
    else:
        values = _trace.weights(site, layer)
    queries, keys = map(axes.whole_words if words else axes.single_tokens, _trace.axis_tokens(site))
    if not special:
        queries, keys = queries.without_special_tokens(), keys.without_special_tokens()
    shown = axes.between(values, queries, keys).numpy()
    shown.setflags(write=False)
    return OpenedLayer(shown, queries, keys)


@st.cache_resource(max_entries=MAX_TRACES, show_spinner=False)
def _masks(texts: tuple[str, ...], digest: str, device: str, _translator: "Translator") -> "BatchMasks":
    return _translator.masks(texts)


@st.cache_data(max_entries=MAX_TRANSLATIONS, show_spinner=False)
def _translation(text: str, digest: str, device: str, _translator: "Translator") -> str:
    return _translator.translate(text)


@st.cache_resource(max_entries=MAX_TRANSLATORS, show_spinner=False)
def _vocabulary(digest: str, _translator: "Translator") -> tuple[str, ...]:
    return _translator.tokenizer.tokens(range(_translator.tokenizer.vocab_size))
