"""The only door from the pages to the model: loaded translators and finished traces, cached for all viewers.

torch is imported here, inside the functions that need it, so that a page is on the screen before torch is in memory.
What is cached is read-only; traces are keyed by (text, checkpoint digest, device), never by arrays. Knows nothing of
widgets or figures.
"""

import os
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from model.errors import CheckpointError
from viz.state import Selection

if TYPE_CHECKING:
    from model import BatchMasks, Trace, Translator

ROOT_VARIABLE: Final = "HEADLIGHT_CHECKPOINTS"
Progress = Callable[[int, int], None]
MAX_TRANSLATORS, MAX_TRACES, MAX_GRIDS = 4, 64, 8


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

    names = checkpoint_names()
    name = selection.checkpoint or next(iter(names), "")
    if name not in names:
        raise CheckpointError(
            f"There is no checkpoint in {checkpoint_root().name}/. Train one with `python -m model train`, "
            f"or name a folder of checkpoints in the environment variable {ROOT_VARIABLE}."
        )
    device = choose_device(None if selection.device == "auto" else selection.device)
    folder = checkpoint_root() / name
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
        session = loaded.decode(text)
        while not session.finished:
            session.step()
            progress(len(session.steps), session.max_steps)
        found = known.put(place, session.trace())
    return found


def all_weights(text: str, site: str, selection: Selection) -> Float[np.ndarray, "layer head query key"]:
    """The weights of every head of every layer of one attention site; read-only."""
    loaded = translator(selection)
    return _all_weights(text, site, loaded.digest, str(loaded.device), trace(text, selection))


def masks(texts: tuple[str, ...], selection: Selection) -> "BatchMasks":
    """The masks of texts that share a batch, as the model uses them."""
    loaded = translator(selection)
    return _masks(texts, loaded.digest, str(loaded.device), loaded)


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


@st.cache_resource(max_entries=MAX_TRACES, show_spinner=False)
def _masks(texts: tuple[str, ...], digest: str, device: str, _translator: "Translator") -> "BatchMasks":
    return _translator.masks(texts)
