"""The only door from the pages to the model: loaded translators, finished traces and what a checkpoint says of itself.

torch is imported here, inside the functions that need it, so that a page is on the screen before torch is in memory.
What is cached, for all viewers, is read-only; traces are keyed by (text, checkpoint digest, device), never by arrays.
Knows nothing of widgets or figures.
"""

import os
from collections import OrderedDict
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import streamlit as st

from model.config import PRESETS, PositionLayout, TransformerConfig
from model.errors import CheckpointError
from model.parameters import ParameterCounts, count_parameters
from model.record import Metrics, Training, TrainingLog, read_card, read_log, read_metrics, read_training
from viz.choices import Selection

if TYPE_CHECKING:
    from model import BatchMasks, DecodingSession, Trace, Translator

ROOT_VARIABLE: Final = "HEADLIGHT_CHECKPOINTS"
Progress = Callable[[int, int], None]
Key = TypeVar("Key")
Kept = TypeVar("Kept")
#: Weights of all heads that a file to take along may hold.
MAX_WEIGHT_BYTES: Final = 256 * 1024**2
MAX_TRANSLATORS, MAX_TRACES, MAX_SESSIONS, MAX_TRANSLATIONS = 4, 64, 16, 500


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
    return known.put(place, session(text, selection, progress).trace()) if found is None else found


def session(text: str, selection: Selection, progress: Progress = lambda written, most: None) -> "DecodingSession":
    """The finished session behind `trace`, for all viewers: to be branched, never to be stepped. Raises as `trace`."""
    loaded = translator(selection)
    known, place = _sessions(), (text, loaded.digest, str(loaded.device))
    found = known.get(place)
    if found is None:
        # Real head outputs cost no time that can be measured and a fifth to a quarter more memory; against them, the
        # page that derives weights proves what it shows.
        begun = loaded.decode(text, extras={"hook_head_output"})
        while not begun.finished:
            begun.step()
            progress(len(begun.steps), begun.max_steps)
        found = known.put(place, begun)
    return found


def identity(selection: Selection) -> tuple[str, str]:
    """The name and the digest of the chosen checkpoint."""
    loaded = translator(selection)
    return loaded.name, loaded.digest


def trace_file(trace: "Trace") -> bytes:
    """A trace as `python -m model trace` writes it, with all its weights unless they are too many to hold."""
    from model.trace_file import weight_arrays, write_trace

    file = BytesIO()
    write_trace(trace, file, weight_arrays(trace) if trace_file_has_weights(trace) else None)
    return file.getvalue()


def trace_file_has_weights(trace: "Trace") -> bool:
    """Whether `trace_file` holds the weights; queries, keys and values, from which they follow, it always holds."""
    from model.trace_file import weight_bytes

    return weight_bytes(trace) <= MAX_WEIGHT_BYTES


def trace_file_size(trace: "Trace") -> int:
    """About how many bytes `trace_file` will return."""
    from model.trace_file import expected_bytes, weight_bytes

    return expected_bytes(trace) + (weight_bytes(trace) if trace_file_has_weights(trace) else 0)


def masks(texts: tuple[str, ...], selection: Selection) -> "BatchMasks":
    """The masks of texts that share a batch, as the model uses them."""
    loaded = translator(selection)
    return _masks(texts, loaded.digest, str(loaded.device), loaded)


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


def position_layout(selection: Selection) -> PositionLayout:
    """In which dimensions the chosen model's positional encodings have their sines and cosines."""
    return translator(selection).config.position_layout


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


class RecentlyUsed(Generic[Key, Kept]):
    """What was used last, in all threads: `cache_resource`, but what that calls may not move a progress bar."""

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._entries: OrderedDict[Key, Kept] = OrderedDict()
        self._lock = Lock()

    def get(self, place: Key) -> Kept | None:
        """What is kept at a place, for example the trace of (text, checkpoint digest, device), if it is still there."""
        with self._lock:
            if place in self._entries:
                self._entries.move_to_end(place)
            return self._entries.get(place)

    def put(self, place: Key, entry: Kept) -> Kept:
        """Keep this, and return what is kept: another viewer may have been first."""
        with self._lock:
            kept = self._entries.setdefault(place, entry)
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)
            return kept


@st.cache_resource(show_spinner=False)
def _traces() -> RecentlyUsed[tuple[str, str, str], "Trace"]:
    return RecentlyUsed(MAX_TRACES)


@st.cache_resource(show_spinner=False)
def _sessions() -> RecentlyUsed[tuple[str, str, str], "DecodingSession"]:
    return RecentlyUsed(MAX_SESSIONS)


@st.cache_resource(max_entries=MAX_TRACES, show_spinner=False)
def _masks(texts: tuple[str, ...], digest: str, device: str, _translator: "Translator") -> "BatchMasks":
    return _translator.masks(texts)


@st.cache_data(max_entries=MAX_TRANSLATIONS, show_spinner=False)
def _translation(text: str, digest: str, device: str, _translator: "Translator") -> str:
    return _translator.translate(text)


@st.cache_resource(max_entries=MAX_TRANSLATORS, show_spinner=False)
def _vocabulary(digest: str, _translator: "Translator") -> tuple[str, ...]:
    return _translator.tokenizer.tokens(range(_translator.tokenizer.vocab_size))
