"""The lane of a film: what was read, over its time, with the words that are written, which is played below the film."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from jaxtyping import Int16

from viz.access import word_times
from viz.access.word_times import TimedWord
from viz.pictures.payload import LOCAL

if TYPE_CHECKING:
    from model import Trace
    from model.reader import Writer
    from viz.selection.selection import Selection

Heads = word_times.Heads


@dataclass(frozen=True, eq=False)
class Lane:
    """When the words of a sound are spoken, in its seconds."""

    rate: int  #: samples a second
    words: tuple[TimedWord, ...]
    times: tuple[float, ...]  #: at which what each step writes begins
    samples: Annotated[Int16[np.ndarray, "sample"], LOCAL]


def timed_by(trace: "Trace", writer: "Writer", selection: "Selection") -> Heads:
    """The heads by which the words of a trace are timed; none where they have no times."""
    has_times = word_times.are_there(trace) and not word_times.why_none(writer)
    return word_times.chosen_heads(writer, selection) if has_times else ()


def lane_of(trace: "Trace", heads: Heads) -> Lane | None:
    """The lane of a trace whose words these heads time; None where none do."""
    wave = trace.source.waveform
    if wave is None or not heads:
        return None
    timed = word_times.timed_words(trace, heads)
    return Lane(wave.rate, timed.words, timed.steps, wave.samples.numpy())
