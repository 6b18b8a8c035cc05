"""When the words that a model writes about a sound are spoken, as heads of its cross-attention tell it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.analysis.timing import later as heard
from model.errors import TraceError
from viz.access.given_files import Given
from viz.pictures.payload import Token
from viz.server.caches import cached
from viz.text.written import CROSS

if TYPE_CHECKING:
    from model import Reader, Trace
    from viz.selection.selection import Selection

Heads = tuple[tuple[int, int], ...]
"""Layer and head of each, from 0."""


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word that was written, and the seconds of the sound that was read at which it is spoken."""

    word: Token
    begin: float
    end: float
    step: int  #: that writes its first token


@dataclass(frozen=True, slots=True)
class TimedWords:
    """The words of a sound by some heads."""

    words: tuple[TimedWord, ...]
    steps: tuple[float, ...]  #: seconds at which what each step writes begins


def code(head: tuple[int, int]) -> str:
    """A head as an address says it, from 1."""
    return f"L{head[0] + 1}H{head[1] + 1}"


def heads_at(reader: "Reader") -> Heads:
    """All heads of cross-attention."""
    return tuple((i, j) for i, count in enumerate(reader.abilities.heads.get(CROSS, ())) for j in range(count))


def own_heads(reader: "Reader") -> Heads:
    """Those that the model itself names for word times, if it does."""
    writer = heard.recordings.speech_writer(reader)
    return () if writer is None else writer.alignment_heads


def chosen_heads(reader: "Reader", selection: "Selection") -> Heads:
    """The heads that a person chose for word times, else the model's own, else the one that is open."""
    there, common = heads_at(reader), selection.common
    known = tuple(head for head in there if code(head) in selection.attention.timed_by)
    opened = tuple(head for head in there if head == (common.layer, common.head))
    return known or own_heads(reader) or opened or there[:1]


def are_there(trace: "Trace") -> bool:
    """Whether a trace is of words that were written about a sound."""
    return trace.source.waveform is not None and CROSS in trace.sites and bool(trace.steps)


def why_none(reader: "Reader") -> str:
    """Why words have no times in a sound, as a sentence; "" where they have."""
    writer = heard.recordings.speech_writer(reader)
    try:
        heard.scores.check_order("" if writer is None else writer.task)
    except TraceError as error:
        return error.message
    return ""


@cached(max_entries=64)
def timed_words(trace: "Trace", heads: Heads) -> TimedWords:
    """The words of a trace of a sound, timed by these heads together."""
    transcript = heard.transcript.transcript_of(trace, heads=heads)
    every = range(len(heads))
    words = zip(transcript.words, transcript.word_times(every), strict=True)
    return TimedWords(
        tuple(TimedWord(time.word, time.start, time.end, written.first) for written, time in words),
        tuple(transcript.row_times(every).tolist()),
    )


def endings() -> tuple[str, ...]:
    """The endings of the files that words with their times can be written to."""
    return tuple(heard.subtitles.WRITERS)


def as_file(trace: "Trace", heads: Heads, given_file: str, ending: str) -> bytes:
    """The same words in such a file, in seconds of the whole recording, of which a part may have been read."""
    begin = Given.read(given_file).start / 10
    transcript = heard.transcript.transcript_of(trace, begin=begin, heads=heads)
    assert trace.source.waveform is not None, "asked for of a sound"
    written = heard.subtitles.WRITERS[ending]
    return written(transcript.word_times(range(len(heads))), begin + trace.source.waveform.seconds).encode("utf-8")
