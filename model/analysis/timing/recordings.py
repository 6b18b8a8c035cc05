"""Measure heads over recordings: all that an atlas has of sentences, and how well cross-attention heads keep time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from model.adapters.speech_reader import SpeechReader
from model.analysis.atlas.measure import Atlas, build_atlas
from model.analysis.corpus import CorpusSentence
from model.analysis.metrics.estimates import Estimate
from model.analysis.metrics.head_metrics import DECODER, TIMING, LayerHead
from model.analysis.timing.scores import TimingScores, agreement, check_order, score_timing
from model.analysis.timing.transcript import SITE, Transcript, transcript_of
from model.analysis.timing.word_times import WordTime, read_word_times, sounds_in
from model.errors import DataError, InputTextError
from model.interruption import Progress, no_progress
from model.nn.encoder_decoder import SITES
from model.reader import Reader
from model.sources.sound_file import EXAMPLE_WORDS, Sound, example_sound, open_sound
from model.trace.trace import Trace

#: What is held of all heads over all sounds, in numbers of four bytes: 4 GiB.
MOST_NUMBERS: Final = 1 << 30


class Recording(NamedTuple):
    """A sound, and when a person says that its words are spoken."""

    name: str  #: unlike that of any other
    sound: Sound
    given: tuple[WordTime, ...] = ()  #: none where nobody says
    begin: float = 0.0  #: second of what `given` counts in, at which the sound begins


def recordings_in(folder: Path) -> list[Recording]:
    """The sounds of a folder, each with its word times. Raises as `sounds_in`, `open_sound` and `read_word_times`."""
    return [Recording(sound.name, open_sound(sound), read_word_times(times)) for sound, times in sounds_in(folder)]


def example_recording() -> Recording:
    """The sentence that a synthesizer speaks, whose word times are known."""
    return Recording("example sound", example_sound(), read_word_times(EXAMPLE_WORDS))


class MeasuredRecordings(NamedTuple):
    """What heads do over some recordings."""

    #: metrics of the decoder's heads, with `TIMING` of those of cross-attention: without given times only the last.
    atlas: Atlas
    timing: TimingScores | None  #: heads and sets of heads against the given times; None without any
    refused: str = ""  #: why there is none though times were given: too few of these words were written


@dataclass(frozen=True, eq=False)
class Transcripts:
    """Those of several sounds, within a limit."""

    all: list[Transcript] = field(default_factory=list)

    def add(self, trace: Trace, given: Sequence[WordTime] = (), begin: float = 0.0) -> None:
        """One more. Raises as `transcript_of`, or a DataError if together they take too much memory."""
        self.all.append(transcript_of(trace, given, begin))
        if sum(transcript.matrices.numel() for transcript in self.all) > MOST_NUMBERS:
            message = (
                "The weights of all heads for these recordings take more than {most} GiB; use fewer or shorter ones."
            )
            raise DataError(message, most=4 * MOST_NUMBERS >> 30)


def speech_writer(reader: Reader) -> SpeechReader | None:
    """The reader as a `SpeechReader`, if it writes text about sounds."""
    writes = reader.abilities.reads == "sound" and reader.abilities.generates
    return cast(SpeechReader, reader) if writes else None


def as_speech_writer(reader: Reader, name: str) -> SpeechReader:
    """The reader as a `SpeechReader`. Raises a DataError, which calls it `name`, if it writes nothing about sounds."""
    if (writer := speech_writer(reader)) is None:
        message = "{name} does not transcribe sound; choose the folder of a speech model such as Whisper."
        raise DataError(message, name=name)
    return writer


def heads_of(reader: SpeechReader) -> tuple[list[LayerHead], list[LayerHead]]:
    """All heads of cross-attention, in the order of `Transcript.matrices`, and the model's own `alignment_heads`."""
    heads = [
        LayerHead(layer, head) for layer, count in enumerate(reader.abilities.heads[SITE]) for head in range(count)
    ]
    return heads, [LayerHead(*head) for head in reader.alignment_heads]


def measure_recordings(
    reader: SpeechReader, recordings: Sequence[Recording], progress: Progress = no_progress
) -> MeasuredRecordings:
    """Let a model write about each recording, and measure the heads of its decoder meanwhile.

    The encoder's own attention is left out: over 1,500 frames it takes more time than all else. `progress` is called
    with the number of recordings done since the last call. Raises a TraceError if the model translates, an
    InputTextError if it can read none of them, or a DataError if it writes too few words to compare heads by.
    """
    check_order(reader.task)
    by_name = {recording.name: recording for recording in recordings}
    transcripts = Transcripts()

    def read(sentences: Sequence[CorpusSentence]) -> Iterator[tuple[int, Trace | InputTextError]]:
        refused = None
        for number, (name, _target) in enumerate(sentences):
            recording = by_name[name]
            try:
                trace = reader.reading(name, recording.sound).trace("")
            except InputTextError as error:
                refused = error
                yield number, error
                continue
            transcripts.add(trace, recording.given, recording.begin)
            yield number, trace
        if refused is not None and not transcripts.all:
            raise refused

    atlas = build_atlas(
        reader, [CorpusSentence(name) for name in by_name], (), progress, sites=(DECODER, SITE), read=read
    )
    heads, own = heads_of(reader)
    written = sum(len(transcript.words[1:]) for transcript in transcripts.all)
    if not written:
        raise DataError("The model wrote fewer than two words for each recording, so heads have no times to compare.")
    apart = agreement(transcripts.all, [heads.index(head) for head in own])
    timing, refused, rows = None, "", {TIMING[-1]: (0, 0, written)}
    estimates = {TIMING[-1]: apart}
    if any(transcript.given for transcript in transcripts.all):
        try:
            timing = score_timing(transcripts.all, heads, own)
        except DataError as error:
            refused = error.message
    if timing is not None:
        of_heads = timing.each.error, timing.each.lag, timing.each.without_lag
        estimates |= dict(zip(TIMING, of_heads, strict=False))
        rows |= dict.fromkeys(TIMING[:-1], (0, 0, timing.words))
    tables = {name: _tables(atlas, heads, estimate) for name, estimate in estimates.items()}
    measured = replace(
        atlas,
        metrics=MappingProxyType({**atlas.metrics, **{name: values for name, (values, _ends) in tables.items()}}),
        intervals=MappingProxyType({**atlas.intervals, **{name: ends for name, (_values, ends) in tables.items()}}),
        rows=MappingProxyType({**atlas.rows, **rows}),
    )
    return MeasuredRecordings(measured, timing, refused)


def _tables(atlas: Atlas, heads: Sequence[LayerHead], estimate: Estimate) -> tuple[Any, Any]:
    """Numbers of the heads of cross-attention as tables of an atlas, and the ends of their intervals."""

    def placed(values: Float[Tensor, "any_head *ends"]) -> Float[np.ndarray, "site layer head *ends"]:
        table = np.full((*atlas.mean_outputs.shape[:3], *values.shape[1:]), np.nan, np.float32)
        layers, numbers = zip(*heads, strict=True)
        table[SITES.index(SITE), layers, numbers] = values
        table.setflags(write=False)
        return table

    return placed(estimate.value), placed(torch.stack([estimate.low, estimate.high], -1))
