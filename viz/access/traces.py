"""Run a model on what a person gives; keep traces and decoding sessions for all viewers; a trace as a file.

What is kept is bounded by count and by bytes, and keyed by what was read and the key of the model.
"""

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Final

import streamlit as st

from model import later
from viz.server import memory
from viz.server.caches import BoundedCache, share_of_memory

if TYPE_CHECKING:
    from model import Candidate, Reader, Trace
    from model.decoding.session import Session
    from model.reader import Writer

Progress = Callable[[int, int], None]
#: What was done, with which text, the key of the model.
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


def trace(reader: "Reader", text: str, progress: Progress = no_progress) -> "Trace":
    """What a model did with a text, computed once for all viewers.

    An encoder–decoder writes a translation along; a decoder alone only reads. What reads a file (`models.text_reader`)
    reads it whatever the text. Raises an InputTextError if the text is blank or too long.

    Args:
        progress: called after every token with the number of tokens written and the most there can be; of a model that
            only reads, after every layer.
    """
    text = text if reader.abilities.reads == "text" else ""
    if reader.abilities.kind == "encoder-decoder":
        return written(later.opening.as_writer(reader), text, progress)
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


def written_alone(writer: "Writer", text: str) -> "Trace":
    """The same as `written`, without keeping the session: of a model that stands beside others nobody branches."""
    return _kept(("written", text, writer.key), lambda: written_trace(_decoded(writer, text, no_progress)))


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


def extras(reader: "Reader", text: str) -> frozenset[str]:
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
