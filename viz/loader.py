"""The only door from the pages to the model: loaded models, finished traces and what a checkpoint says of itself.

torch is imported here, inside the functions that need it, so that a page is on the screen before torch is in memory.
What is cached, for all viewers, is read-only, bounded by count and by bytes, and keyed by (text, digest of the model,
device), never by arrays. Knows nothing of widgets or figures.
"""

import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from model.config import PRESETS, PositionLayout, TransformerConfig
from model.errors import CheckpointError, InputTextError
from model.parameters import ParameterCounts, count_parameters
from model.record import MANIFEST, Metrics, Training, TrainingLog, read_card, read_log, read_metrics, read_training
from viz import shelf
from viz.choices import Selection
from viz.recently_used import RecentlyUsed as RecentlyUsed  # the other doors keep what they derive in it too

if TYPE_CHECKING:
    from model import Abilities, BatchMasks, DecodingSession, Reader, Trace, Translator
    from model.abilities import Kind
    from model.description import Description

ROOT_VARIABLE: Final = shelf.ROOT_VARIABLE
Progress = Callable[[int, int], None]
#: What was done, with which text or picture, the digest of the model, the device.
Place = tuple[str, str, str, str]
#: Weights of all heads that a file to take along may hold.
MAX_WEIGHT_BYTES: Final = 256 * 1024**2
MAX_TRANSLATORS, MAX_TRACES, MAX_SESSIONS, MAX_TRANSLATIONS, MAX_PICTURES = 8, 64, 16, 500, 32
#: Of the machine's memory, the share that loaded models may take, and the share of all traces.
MODELS_SHARE, TRACES_SHARE = 0.5, 0.1
MAX_PICTURE_BYTES: Final = 64 * 1024**2
#: The hook that proves what a page derives.
OUTPUTS: Final = "hook_head_output"


def checkpoint_root() -> Path:
    """The folder whose sub-folders are checkpoints."""
    return shelf.checkpoint_root()


def checkpoint_names() -> list[str]:
    """The models that every viewer can choose, in order."""
    return list(shelf.server_models())


def check_folder(path: str) -> Path:
    """A folder that a person names, once it is clear that a model lies in it; nothing of the model is loaded.

    Raises:
        CheckpointError: it is none, or holds no model that can be opened; the message says what works.
    """
    from model.adapters import look

    return look.folder_with_model(path)


def fetch_folder(name: str) -> Path:
    """The folder of a model of the hub, fetched where that is needed; only for who is allowed to.

    Raises:
        CheckpointError: it is not allowed, there is no such model, or it cannot be fetched or opened.
    """
    from model.adapters import hub, look

    if not shelf.downloads_allowed():
        raise CheckpointError(
            f"This server fetches nothing. Start it with {shelf.DOWNLOADS_VARIABLE}=1 in its environment to allow "
            "that, or download the model yourself and give its folder."
        )
    return look.folder_with_model(str(hub.hub_folder(name.strip(), allowed=True)))


def reader(selection: Selection) -> "Reader":
    """The chosen model on the chosen device, loaded once for all viewers.

    Raises:
        CheckpointError: there is no such model, it is damaged, or too large for the memory that there is.
        DeviceError: the device asked for does not exist here.
    """
    from model import open_reader
    from model.device import choose_device

    folder = _folder(selection)
    device = str(choose_device(None if selection.device == "auto" else selection.device))
    stamp = _stamp(folder)
    weights = sum(size for name, size, _ in stamp if name.endswith(".safetensors"))
    return _readers().made(
        (str(folder), stamp, device), lambda: open_reader(folder, device=device), _model_bytes, expected=weights
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
    from model.adapters import look

    try:
        return look.kind_in(_folder(selection))
    except CheckpointError:
        return None


def is_translator(selection: Selection) -> bool:
    """Whether `translator` will do."""
    from model import Translator

    return isinstance(reader(selection), Translator)


def is_english_german(selection: Selection) -> bool:
    """Whether the chosen model is one of Headlight's own checkpoints, which translate English to German."""
    try:
        return (_folder(selection) / MANIFEST).is_file()
    except CheckpointError:
        return False


def target_language(selection: Selection) -> str:
    """The language that the chosen model writes, as HTML names it; "" if nobody knows."""
    return "de" if is_english_german(selection) else ""


def name_of(selection: Selection) -> str:
    """What the chosen model is called in the list."""
    return selection.checkpoint or next(iter(checkpoint_names()), "")


def keep_picture(content: bytes, name: str) -> str:
    """Keep a picture that a person gives, for all runs of theirs, and return what it is asked for by.

    Raises:
        InputTextError: there is no picture in it, or it is too large.
    """
    from model.adapters.image_reader import picture_of
    from viz.components import wire

    picture = picture_of(content, name)
    digest = wire.digest(content.hex())
    _pictures().put(digest, (name, picture), picture.width * picture.height * 3)
    return digest


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
    what = ("looked", selection.picture) if loaded.abilities.kind == "image" else ("read", text)
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
    from viz.writing import trace_of

    loaded = reader(selection)
    known, place = _traces(), ("written", text, loaded.digest, str(loaded.device))
    found = known.get(place)
    if found is None:
        found = trace_of(session(text, selection, progress))
        found = known.put(place, found, _trace_bytes(found))
    return found


def session(text: str, selection: Selection, progress: Progress = lambda written, most: None) -> "DecodingSession":
    """The finished session behind `trace`, for all viewers: to be branched, never to be stepped. Raises as `trace`."""
    from viz import writing

    loaded = writing.writer(selection)
    known, place = _sessions(), ("written", text, loaded.digest, str(loaded.device))
    found = known.get(place)
    if found is None:
        # Real head outputs cost no time that can be measured and a fifth to a quarter more memory; against them, the
        # page that derives weights proves what it shows.
        begun = loaded.decode(text, extras=writing.extras(selection))
        while not begun.finished:
            begun.step()
            progress(len(begun.steps), begun.max_steps)
        found = known.put(place, begun, _session_bytes(loaded, begun))
    return found


def identity(selection: Selection) -> tuple[str, str]:
    """The name and the digest of the chosen checkpoint."""
    return name_of(selection), reader(selection).digest


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
    return [(name, config, count_parameters(config)) for name, config in [(name_of(selection), loaded.config), *papers]]


def vocabulary(selection: Selection) -> tuple[str, ...]:
    """Every piece of the vocabulary, in the order of their ids; none of a model of pictures."""
    loaded = reader(selection)
    return _vocabulary(loaded.digest, loaded)


def special_ids(selection: Selection) -> frozenset[int]:
    """The ids of the tokens that stand for no text."""
    loaded: Any = reader(selection)
    if is_translator(selection):
        config = loaded.config
        return frozenset((config.pad_id, config.unk_id, config.bos_id, config.eos_id))
    return loaded.pieces.special_ids if loaded.abilities.kind != "image" else frozenset()


def description(selection: Selection) -> "Description":
    """What the chosen model is made of, in words and numbers, whichever model it is."""
    from model.description import describe

    return describe(reader(selection))


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
    if selection.folder:
        return Path(selection.folder)
    models = shelf.server_models()
    name = name_of(selection)
    if name not in models:
        raise CheckpointError(
            f"There is no checkpoint in {checkpoint_root().name}/. Train one with `python -m model train`, add a "
            f"folder with a model on the left, or name a folder of checkpoints in the environment variable "
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
    name, picture = _picture(selection.picture)
    looked: Trace = loaded.trace_picture(picture, name=name, extras=extras)
    return looked


def _picture(digest: str) -> tuple[str, Any]:
    """A picture that was given, with a name that no other has; without one, the picture that we draw."""
    from model.adapters.example_picture import example_picture

    if not digest:
        return "example picture", example_picture()
    found = _pictures().get(digest)
    if found is None:
        raise InputTextError("This picture is no longer here. Choose its file again on the left.")
    name, picture = found
    return f"{name} · {digest[:6]}", picture


def _model_bytes(loaded: Any) -> int:
    return sum(one.numel() * one.element_size() for one in loaded.model.parameters())


def _trace_bytes(trace: "Trace") -> int:
    """Bytes of what a trace was computed from and what was recorded beside."""
    from model.trace_file import expected_bytes, weight_bytes

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
def _readers() -> RecentlyUsed[tuple[str, Stamp, str], "Reader"]:
    # Sessions hold the model that they write with: they leave with it.
    return RecentlyUsed(MAX_TRANSLATORS, _memory(MODELS_SHARE), on_leave=lambda place: _sessions().drop(_is_any))


def _is_any(place: Place) -> bool:
    return True


@st.cache_resource(show_spinner=False)
def _pictures() -> RecentlyUsed[str, tuple[str, Any]]:
    return RecentlyUsed(MAX_PICTURES, MAX_PICTURE_BYTES)


@st.cache_resource(show_spinner=False)
def _traces() -> RecentlyUsed[Place, "Trace"]:
    return RecentlyUsed(MAX_TRACES, _memory(TRACES_SHARE))


@st.cache_resource(show_spinner=False)
def _sessions() -> RecentlyUsed[Place, "DecodingSession"]:
    return RecentlyUsed(MAX_SESSIONS, _memory(TRACES_SHARE))


@st.cache_resource(max_entries=MAX_TRACES, show_spinner=False)
def _masks(texts: tuple[str, ...], digest: str, device: str, _translator: "Translator") -> "BatchMasks":
    return _translator.masks(texts)


@st.cache_data(max_entries=MAX_TRANSLATIONS, show_spinner=False)
def _translation(text: str, digest: str, device: str, _translator: "Translator") -> str:
    return _translator.translate(text)


@st.cache_resource(max_entries=MAX_TRANSLATORS, show_spinner=False)
def _vocabulary(digest: str, _reader: Any) -> tuple[str, ...]:
    if _reader.abilities.kind == "image":
        return ()
    pieces = getattr(_reader, "tokenizer", None) or _reader.pieces
    size = getattr(pieces, "vocab_size", None) or _reader.config.vocab_size
    # One by one: how a token is spelled may depend on the one before it.
    return tuple(token for number in range(size) for token in pieces.tokens([number]))
