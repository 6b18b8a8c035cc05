"""Run a model on a text or picture; keep traces, decoding sessions and pictures for all viewers; a trace as a file.

What is kept is bounded by count and by bytes, and keyed by what was read and the key of the model.
"""

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Final

import streamlit as st

from model import later
from model.errors import InputTextError
from viz.pictures.payload import fingerprint
from viz.server import memory
from viz.server.caches import BoundedCache, share_of_memory
from viz.text.messages import said

if TYPE_CHECKING:
    from PIL import Image

    from model import Candidate, Reader, Trace
    from model.decoding.session import Session
    from model.reader import Writer

MAX_PICTURES: Final = 32
MAX_PICTURE_BYTES: Final = 64 * 1024**2
#: Pixels of a side to which a larger picture is shrunk when it arrives: models look at a few hundred.
LARGEST_SIDE: Final = 1_024


def keep(content: bytes, name: str) -> str:
    """Keep a picture that a person gives, for all runs of theirs, and return what it is asked for by.

    Whoever gives the same bytes under another name has another picture, so nobody sees what others call theirs. Raises
    an InputTextError if there is no picture in it, or it is too large.
    """
    digest = fingerprint(name.encode("utf-8", errors="replace").hex(), content.hex())
    if _kept_pictures().get(digest) is None:
        picture = later.image_reader.picture_of(content, name, LARGEST_SIDE)
        _kept_pictures().put(digest, (name, picture), picture.width * picture.height * 3)
    return digest


def given(digest: str) -> tuple[str, "Image.Image"]:
    """A given picture and its name; by default the one we draw. Raises an InputTextError if it is not kept."""
    if not digest:
        return said("example picture"), later.image_reader.example_picture()
    kept = _kept_pictures().get(digest)
    if kept is None:
        raise InputTextError("This picture is no longer available. Choose its file again on the left.")
    name, picture = kept
    return f"{name} · {digest[:6]}", picture


@st.cache_resource(show_spinner=False)
def _kept_pictures() -> BoundedCache[str, tuple[str, "Image.Image"]]:
    return BoundedCache(MAX_PICTURES, MAX_PICTURE_BYTES)


Progress = Callable[[int, int], None]
#: What was done, with which text or picture, the key of the model.
CacheKey = tuple[str, str, str]
MAX_TRACES, MAX_SESSIONS = 64, 16
#: The share of the machine's memory that all traces may take, and all sessions.
TRACES_SHARE: Final = 0.1
#: Characters of a text, beyond which the model's own outputs would take more memory than they prove.
LONGEST_PROVED: Final = 8_000
#: Seconds between two times that freed memory is handed back while a text is read.
HAND_BACK: Final = 1.0
#: The hook that proves what a page derives.
OUTPUTS: Final = "hook_head_output"


def no_progress(done: int, most: int) -> None:
    """For who wants to be told nothing."""


def trace(reader: "Reader", text: str, picture_digest: str = "", progress: Progress = no_progress) -> "Trace":
    """What a model did with a text, computed once for all viewers.

    An encoder–decoder writes a translation along; a decoder alone only reads. A model of pictures looks at a picture,
    whatever the text. Raises an InputTextError if the text is blank or too long, or the picture is not kept any more.

    Args:
        picture_digest: of the picture that a person gave; "" for the one that we draw.
        progress: called after every token with the number of tokens written and the most there can be; of a model that
            only reads, after every layer.
    """
    kind = reader.abilities.kind
    if kind == "encoder-decoder":
        return written(later.opening.as_writer(reader), text, progress)
    if kind == "image":
        return _kept(("looked", picture_digest, reader.key), lambda: _look(reader, picture_digest, progress))
    return _kept(("read", text, reader.key), lambda: _read(reader, text, progress))


def rival(trace: "Trace", step: int) -> "Candidate | None":
    """The most probable other token of a step that is more than the same one in capitals; None if there is no other."""
    written = trace.steps[step]
    others = [each for each in written.candidates if each.token_id != written.token_id]
    distinct = [each for each in others if each.token.casefold() != written.token.casefold()]
    return next(iter(distinct or others), None)


def written(writer: "Writer", text: str, progress: Progress = no_progress) -> "Trace":
    """What a model writes about a text, or after it, with the text; as `trace`, which only reads with a decoder."""
    return _kept(("written", text, writer.key), lambda: written_trace(session(writer, text, progress)))


def written_alone(writer: "Writer", text: str, progress: Progress = no_progress) -> "Trace":
    """The same as `written`, without keeping the session: of a model that stands beside others nobody branches."""
    return _kept(("written", text, writer.key), lambda: written_trace(_decoded(writer, text, progress)))


def session(writer: "Writer", text: str, progress: Progress = no_progress) -> "Session":
    """The finished session behind `written`, for all viewers: to be branched, never to be stepped."""
    key = ("written", text, writer.key)
    result = _sessions().get(key)
    if result is None:
        begun = _decoded(writer, text, progress)
        result = _sessions().put(key, begun, begun.num_bytes)
    return result


def _decoded(writer: "Writer", text: str, progress: Progress) -> "Session":
    # Real head outputs cost no time that can be measured and a fifth to a quarter more memory; against them, the page
    # that derives weights proves what it shows.
    begun = writer.decode(text, extras=extras(writer, text))
    while not begun.finished:
        begun.step()
        progress(len(begun.steps), begun.max_steps)
    return begun


def written_trace(session: "Session") -> "Trace":
    """What a session has written, with the steps that wrote and no others."""
    return session.trace().only_written(session.steps)


def extras(reader: "Reader", text: str = "") -> frozenset[str]:
    """What a run records beside: the heads' real outputs, where the model gives them and the text is not too long."""
    return frozenset({OUTPUTS} if reader.abilities.has("head outputs") and len(text) <= LONGEST_PROVED else ())


def forget_sessions() -> None:
    """Let all sessions go, so that the models that they hold can go."""
    _sessions().clear()


def _read(reader: "Reader", text: str, progress: Progress) -> "Trace":
    def layer_done(done: int, most: int) -> None:
        # What a layer of a long text frees lies between what is kept of it: as much again, at the end of the pass.
        memory.hand_back(HAND_BACK)
        progress(done, most)

    with later.capture.layers_counted(layer_done):
        return reader.trace(text, extras=extras(reader, text))


def _look(reader: "Reader", picture_digest: str, progress: Progress) -> "Trace":
    name, picture = given(picture_digest)
    with later.capture.layers_counted(progress):
        return later.opening.as_image_reader(reader).trace_picture(picture, name=name, extras=extras(reader))


def _kept(key: CacheKey, make: "Callable[[], Trace]") -> "Trace":
    """The trace that is kept under a key; else the one that is made, kept from now on."""
    found = _traces().get(key)
    if found is None:
        made = make()
        found = _traces().put(key, made, num_bytes(made))
    return found


def num_bytes(trace: "Trace") -> int:
    """Bytes of what a trace was computed from and what was recorded beside."""
    return later.trace_file.expected_bytes(trace) + (0 if trace.knows_inputs else later.trace_file.weight_bytes(trace))


@st.cache_resource(show_spinner=False)
def _traces() -> BoundedCache[CacheKey, "Trace"]:
    return BoundedCache(MAX_TRACES, share_of_memory(TRACES_SHARE))


@st.cache_resource(show_spinner=False)
def _sessions() -> BoundedCache[CacheKey, "Session"]:
    return BoundedCache(MAX_SESSIONS, share_of_memory(TRACES_SHARE))


#: Weights of all heads that a file may hold.
MAX_WEIGHT_BYTES: Final = 256 * 1024**2


def content(trace: "Trace") -> bytes:
    """A trace as `python -m model trace` writes it, with all its weights unless they are too many to hold."""
    file = BytesIO()
    later.trace_file.write_trace(trace, file, later.trace_file.weight_arrays(trace) if has_weights(trace) else None)
    return file.getvalue()


def has_weights(trace: "Trace") -> bool:
    """Whether `content` holds the weights; queries, keys and values, from which they follow, it always holds."""
    return later.trace_file.weight_bytes(trace) <= MAX_WEIGHT_BYTES


def size(trace: "Trace") -> int:
    """About how many bytes `content` will return."""
    return later.trace_file.expected_bytes(trace) + (later.trace_file.weight_bytes(trace) if has_weights(trace) else 0)
