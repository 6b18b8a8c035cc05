"""The door from the pages to loaded models and finished traces; other doors lead to what follows from them.

torch is imported here, inside the functions that need it, so that a page is on the screen before torch is in memory.
What is cached, for all viewers, is read-only, bounded by count and by bytes, and keyed by (text, digest of the model,
device), never by arrays. Knows nothing of widgets or figures.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from model.errors import CheckpointError
from model.training_record import MANIFEST
from viz.access import pictures
from viz.core.bounded_cache import BoundedCache
from viz.selection import catalogue
from viz.selection.selection import Selection

if TYPE_CHECKING:
    from model import Abilities, BatchMasks, DecodingSession, Reader, Trace, Translator
    from model.abilities import Kind

ROOT_VARIABLE: Final = catalogue.ROOT_VARIABLE
Progress = Callable[[int, int], None]
#: What was done, with which text or picture, the digest of the model, the device.
Place = tuple[str, str, str, str]
MAX_TRANSLATORS, MAX_TRACES, MAX_SESSIONS, MAX_TRANSLATIONS = 8, 64, 16, 500
#: Of the machine's memory, the share that loaded models may take, and the share of all traces.
MODELS_SHARE, TRACES_SHARE = 0.5, 0.1
#: The hook that proves what a page derives.
OUTPUTS: Final = "hook_head_output"


def reader(selection: Selection) -> "Reader":
    """The chosen model on the chosen device, loaded once for all viewers.

    Raises:
        CheckpointError: there is no such model, it is damaged, or too large for the memory that there is.
        DeviceError: the device asked for does not exist here.
    """
    from model import open_reader
    from model.device import choose_device

    place = folder(selection)
    device = str(choose_device(None if selection.model.device == "auto" else selection.model.device))
    stamp = _stamp(place)
    weights = sum(size for name, size, _ in stamp if name.endswith(".safetensors"))
    return _readers().get_or_make(
        (str(place), stamp, device), lambda: open_reader(place, device=device), _model_bytes, expected=weights
    )


def translator(selection: Selection) -> "Translator":
    """The chosen model, where it is a translator that Headlight runs itself. Raises as `reader`.

    Raises:
        CheckpointError: it is another one.
    """
    from model import Translator

    loaded = reader(selection)
    if not isinstance(loaded, Translator):
        raise CheckpointError(
            f"This is shown of translators that Headlight runs itself: its own checkpoints, and MarianMT (OPUS-MT) "
            f"models. {name_of(selection)} is a model of another kind: {loaded.abilities.family}."
        )
    return loaded


def abilities(selection: Selection) -> "Abilities":
    """What the chosen model has and lacks."""
    return reader(selection).abilities


def kind(selection: Selection) -> "Kind | None":
    """Which kind of model is chosen, before anything is loaded; None where its folder does not say."""
    from model.adapters import inspect_folder

    try:
        return inspect_folder.kind_in(folder(selection))
    except CheckpointError:
        return None


def is_translator(selection: Selection) -> bool:
    """Whether `translator` will do."""
    from model import Translator

    return isinstance(reader(selection), Translator)


def is_english_german(selection: Selection) -> bool:
    """Whether the chosen model is one of Headlight's own checkpoints, which translate English to German."""
    try:
        return (folder(selection) / MANIFEST).is_file()
    except CheckpointError:
        return False


def target_language(selection: Selection) -> str:
    """The language that the chosen model writes, as HTML names it; "" if nobody knows."""
    return "de" if is_english_german(selection) else ""


def name_of(selection: Selection) -> str:
    """What the chosen model is called in the list."""
    return selection.model.checkpoint or next(iter(catalogue.server_models()), "")


def trace(text: str, selection: Selection, progress: Progress = lambda written, most: None) -> "Trace":
    """What the model did with a text, computed once for all viewers. Raises what `reader` and the model raise.

    An encoder–decoder writes a translation along; a decoder alone only reads. A model of pictures looks at the picture
    of the selection, whatever the text.

    Args:
        text: the sentence as typed.
        selection: says which model and device.
        progress: called after every token with the number of tokens written and the most there can be.
    """
    loaded = reader(selection)
    if loaded.abilities.kind == "encoder-decoder":
        return written(text, selection, progress)
    what = ("looked", selection.common.picture_digest) if loaded.abilities.kind == "image" else ("read", text)
    known, place = _traces(), (*what, loaded.digest, str(loaded.device))
    found = known.get(place)
    if found is None:
        found = _read(text, selection, loaded)
        found = known.put(place, found, _trace_bytes(found))
    return found


def written(text: str, selection: Selection, progress: Progress = lambda written, most: None) -> "Trace":
    """What the model writes about a text, or after it, with the text; as `trace`, which only reads with a decoder.

    Raises:
        SessionError: the model does not write.
    """
    from viz.access.generation import trace_of

    loaded = reader(selection)
    known, place = _traces(), ("written", text, loaded.digest, str(loaded.device))
    found = known.get(place)
    if found is None:
        found = trace_of(session(text, selection, progress))
        found = known.put(place, found, _trace_bytes(found))
    return found


def session(text: str, selection: Selection, progress: Progress = lambda written, most: None) -> "DecodingSession":
    """The finished session behind `trace`, for all viewers: to be branched, never to be stepped. Raises as `trace`."""
    from viz.access import generation

    loaded = generation.writer(selection)
    known, place = _sessions(), ("written", text, loaded.digest, str(loaded.device))
    found = known.get(place)
    if found is None:
        # Real head outputs cost no time that can be measured and a fifth to a quarter more memory; against them, the
        # page that derives weights proves what it shows.
        begun = loaded.decode(text, extras=generation.extras(selection))
        while not begun.finished:
            begun.step()
            progress(len(begun.steps), begun.max_steps)
        found = known.put(place, begun, _session_bytes(loaded, begun))
    return found


def identity(selection: Selection) -> tuple[str, str]:
    """The name and the digest of the chosen checkpoint."""
    return name_of(selection), reader(selection).digest


def masks(texts: tuple[str, ...], selection: Selection) -> "BatchMasks":
    """The masks of texts that share a batch, as the model uses them."""
    loaded = translator(selection)
    return _masks(texts, loaded.digest, str(loaded.device), loaded)


def translation(text: str, selection: Selection) -> str:
    """The greedy translation of a text, without a trace. Raises what `translator` and the model raise."""
    loaded = translator(selection)
    return _translation(text, loaded.digest, str(loaded.device), loaded)


def folder(selection: Selection) -> Path:
    """Where the chosen model lies.

    Raises:
        CheckpointError: there is none of that name.
    """
    if selection.model.folder:
        return Path(selection.model.folder)
    models = catalogue.server_models()
    name = name_of(selection)
    if name not in models:
        raise CheckpointError(
            f"There is no checkpoint in {catalogue.checkpoint_root().name}/. Train one with `python -m model train`, "
            f"add a folder with a model on the left, or name a folder of checkpoints in the environment variable "
            f"{ROOT_VARIABLE}."
        )
    return models[name]


Stamp = tuple[tuple[str, int, int], ...]


def _stamp(folder: Path) -> Stamp:
    """Changes when any file of a checkpoint does, so that a damaged one is read, and refused, instead of remembered."""
    try:
        stats = [(path.name, path.stat()) for path in sorted(folder.iterdir())]
    except OSError as error:
        raise CheckpointError(f"There is no folder {folder.name} any more, or it cannot be read.") from error
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


def _read(text: str, selection: Selection, loaded: Any) -> "Trace":
    """One pass of a model that is not ours, with its head outputs where it gives them."""
    extras = {OUTPUTS} if loaded.abilities.has("head outputs") else set()
    if loaded.abilities.kind != "image":
        traced: Trace = loaded.trace(text, extras=extras)
        return traced
    name, picture = pictures.given(selection.common.picture_digest)
    looked: Trace = loaded.trace_picture(picture, name=name, extras=extras)
    return looked


def _model_bytes(loaded: Any) -> int:
    return sum(one.numel() * one.element_size() for one in loaded.model.parameters())


def _trace_bytes(trace: "Trace") -> int:
    """Bytes of what a trace was computed from and what was recorded beside."""
    from model.trace.file import expected_bytes, weight_bytes

    return expected_bytes(trace) + (0 if trace.knows_inputs else weight_bytes(trace))


def _session_bytes(loaded: Any, begun: "DecodingSession") -> int:
    """About the bytes of a session: query, key, value and output of every site and row, in float32."""
    rows = begun.max_steps + len(begun.target_ids)
    width = int(getattr(loaded.config, "d_model", None) or getattr(loaded.config, "hidden_size", None) or 1024)
    return 4 * 4 * rows * width * int(sum(layers for layers, _ in loaded.abilities.shapes.values()))


def _memory(share: float) -> int:
    try:
        return int(share * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # Not every system tells.
        return int(share * 16 * 1024**3)


@st.cache_resource(show_spinner=False)
def _readers() -> BoundedCache[tuple[str, Stamp, str], "Reader"]:
    # Sessions hold the model that they write with: they go with it.
    return BoundedCache(MAX_TRANSLATORS, _memory(MODELS_SHARE), on_evict=lambda key: _sessions().clear())


@st.cache_resource(show_spinner=False)
def _traces() -> BoundedCache[Place, "Trace"]:
    return BoundedCache(MAX_TRACES, _memory(TRACES_SHARE))


@st.cache_resource(show_spinner=False)
def _sessions() -> BoundedCache[Place, "DecodingSession"]:
    return BoundedCache(MAX_SESSIONS, _memory(TRACES_SHARE))


@st.cache_resource(max_entries=MAX_TRACES, show_spinner=False)
def _masks(texts: tuple[str, ...], digest: str, device: str, _translator: "Translator") -> "BatchMasks":
    return _translator.masks(texts)


@st.cache_data(max_entries=MAX_TRANSLATIONS, show_spinner=False)
def _translation(text: str, digest: str, device: str, _translator: "Translator") -> str:
    return _translator.translate(text)
