"""Open the file of a sound, within limits: its header is checked first, then it is decoded block by block."""

import wave
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
import soundfile
import soxr
from jaxtyping import Float32, Int16

from model.errors import InputTextError, said

LARGEST_FILE: Final = 20 << 20
"""Bytes beyond which a file is refused."""
SHORTEST: Final = 0.1
LONGEST: Final = 600
"""Seconds of a sound, at least and at most."""
MOST_CHANNELS: Final = 32
LOWEST_RATE: Final = 4_000
HIGHEST_RATE: Final = 192_000
"""Samples a second, at least and at most."""
MOST_NUMBERS: Final = 2 * 96_000 * LONGEST
"""Samples of all channels together: a small file can unpack to very many."""
LOUDEST: Final = 8.0
"""Decoders exceed 1 by a little. Samples beyond this are on another scale, such as that of 16-bit numbers."""

Samples = Float32[np.ndarray, "sample"]

#: How a file of each format begins: libsndfile would also try twenty others, some of them rarely used and tested.
_BEGINNINGS: Final = (
    b"RIFF", b"RF64", b"fLaC", b"OggS", b"ID3",
    b"\xff\xfb", b"\xff\xfa", b"\xff\xf3", b"\xff\xf2", b"\xff\xe3", b"\xff\xe2",
)  # fmt: skip
_FORMATS: Final = ("WAV", "WAVEX", "RF64", "FLAC", "OGG", "MP3")
_BLOCK: Final = 1 << 16  #: samples of a channel that are decoded at once
_SCALES: Final = {"uint8": 1 << 7, "int16": 1 << 15, "int32": 1 << 31}
_UNNAMED: Final = said("The sound")  #: what an error calls an array


@dataclass(frozen=True, eq=False, slots=True)
class Sound:
    """A sound of one channel."""

    samples: Samples  #: from −1 to 1
    rate: int  #: samples a second

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self.samples) / self.rate

    @property
    def pcm(self) -> Int16[np.ndarray, "sample"]:
        """The samples as 16-bit numbers, which are enough to draw and to play them."""
        return np.clip(np.round(self.samples * 32_768), -32_768, 32_767).astype(np.int16)

    def window(self, start: float, seconds: float) -> "Sound":
        """So many seconds of it from `start` on; fewer at its end. Raises an InputTextError if it has none there."""
        begin = max(round(start * self.rate), 0)
        samples = self.samples[begin : begin + round(seconds * self.rate)]
        if not len(samples):
            message = (
                "The sound is {all:.1f} seconds long; there is nothing from {start:.1f} s on. Choose an earlier part."
            )
            raise InputTextError(message, all=self.seconds, start=start)
        return Sound(samples, self.rate)

    def resampled(self, rate: int) -> "Sound":
        """The same sound with so many samples a second."""
        if rate == self.rate:
            return self
        return Sound(np.clip(soxr.resample(self.samples, self.rate, rate), -1, 1), rate)

    def wav(self) -> bytes:
        """It as a WAV file of 16 bits, as players take it."""
        file = BytesIO()
        with wave.open(file, "wb") as written:
            written.setnchannels(1)
            written.setsampwidth(2)
            written.setframerate(self.rate)
            written.writeframes(self.pcm.astype("<i2").tobytes())
        return file.getvalue()


def open_sound(path: str | Path) -> Sound:
    """The sound in a file. Raises an InputTextError before decoding it if there is none, or it is too large."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError as error:
        message = "There is no file {path!r}. Pass the path of a WAV, FLAC, OGG or MP3 file."
        raise InputTextError(message, path=str(path)) from error
    except OSError as error:
        raise _unreadable(path.name) from error
    return sound_of(content, path.name)


def sound_of(content: bytes, name: str, most_rate: int = HIGHEST_RATE) -> Sound:
    """The sound that the bytes of a file hold, as `open_sound`; an error calls it `name`.

    Channels are averaged. A higher rate is brought down to `most_rate` while it is decoded, so that little is held. Of
    a file that was cut off, what there is of it is read.
    """
    if len(content) > LARGEST_FILE:
        message = "{name} is larger than {most} MB; save it as MP3, or cut out the part that you want to read."
        raise InputTextError(message, name=name, most=LARGEST_FILE >> 20)
    if not content.startswith(_BEGINNINGS):
        raise _unreadable(name)
    try:
        with soundfile.SoundFile(BytesIO(content)) as file:
            _check_header(file, name)
            rate = min(file.samplerate, most_rate)
            blocks = _blocks(file, name)
            if rate != file.samplerate:
                blocks = _brought_down(blocks, file.samplerate, rate)
            samples = np.concatenate([np.zeros(0, np.float32), *blocks])
    except (soundfile.SoundFileError, OSError, ValueError) as error:
        raise _unreadable(name) from error
    return _made(samples, rate, name)


def as_sound(sound: Sound | np.ndarray[Any, Any], rate: int | None = None) -> Sound:
    """A sound, or an array of samples [sample] or [sample, channel] with so many samples a second.

    Numbers with a fraction go from −1 to 1; whole ones have 8 bits without a sign, or 16 or 32 with one.
    Raises an InputTextError if it is of another form, too short, or too long.
    """
    if isinstance(sound, Sound):
        return sound
    dtype, shape = str(sound.dtype), sound.shape
    if not (sound.dtype.kind == "f" or dtype in _SCALES) or not (len(shape) == 1 or (len(shape) == 2 and shape[1])):
        message = (
            "A sound must be an array [sample] or [sample, channel] of floats, int16, int32 or uint8, got {dtype} "
            "{shape}."
        )
        raise InputTextError(message, dtype=dtype, shape=list(shape))
    columns = sound.reshape(len(sound), -1) if len(sound) else sound.reshape(0, 1)
    _check_form(_UNNAMED, columns.shape[1], rate or 0)
    _check_length(_UNNAMED, len(columns), rate or 0, columns.size)
    if dtype in _SCALES:
        columns = columns / np.float32(_SCALES[dtype]) - np.float32(dtype == "uint8")
    return _made(_mean(columns, _UNNAMED), rate or 0, _UNNAMED)


@cache
def example_sound() -> Sound:
    """A sentence spoken by a synthesizer, at 16,000 samples a second: "The animal didn't cross the street because it
    was too tired." `EXAMPLE_WORDS` says when it says which word.

    Made by `python .packaging/speak_example.py`.
    """
    return open_sound(Path(__file__).with_name("example_sound.flac"))


EXAMPLE_WORDS: Final = Path(__file__).with_name("example_sound.csv")
"""When each word of the example begins and ends, in seconds, as the synthesizer placed it: columns word, start, end."""


def _check_header(file: soundfile.SoundFile, name: str) -> None:
    """Raise an InputTextError if what the header says is beyond the limits."""
    if file.format not in _FORMATS:
        raise _unreadable(name)
    _check_form(name, file.channels, file.samplerate)
    # The header of an MP3 may only estimate it; its samples are counted as they are decoded.
    if file.format != "MP3":
        _check_length(name, file.frames, file.samplerate, file.frames * file.channels)


def _check_form(name: str, channels: int, rate: int) -> None:
    if not 1 <= channels <= MOST_CHANNELS:
        message = "{name} has {channels:,} channels; at most {most} can be read. Mix them down first."
        raise InputTextError(message, name=name, channels=channels, most=MOST_CHANNELS)
    if not LOWEST_RATE <= rate <= HIGHEST_RATE:
        message = "{name} has {rate:,} samples a second; expected {lowest:,} to {highest:,}. Save it at 16,000."
        raise InputTextError(message, name=name, rate=rate, lowest=LOWEST_RATE, highest=HIGHEST_RATE)


def _check_length(name: str, samples: int, rate: int, numbers: int) -> None:
    if samples > LONGEST * rate:
        message = "{name} is longer than {most} minutes. Save only the part that the model should read."
        raise InputTextError(message, name=name, most=LONGEST // 60)
    if numbers > MOST_NUMBERS:
        message = "{name} unpacks to more than {most:,} samples. Save it with fewer channels or a lower sampling rate."
        raise InputTextError(message, name=name, most=MOST_NUMBERS)


def _blocks(file: soundfile.SoundFile, name: str) -> Iterator[Samples]:
    """The mean of all channels, block by block. Raises an InputTextError once there are too many, or it is damaged."""
    decoded = 0
    while True:
        try:
            block = file.read(_BLOCK, dtype="float32", always_2d=True)
        except soundfile.SoundFileError as error:
            message = "{name} is damaged after {seconds:.1f} seconds. Save or download it again."
            raise InputTextError(message, name=name, seconds=decoded / file.samplerate) from error
        if not len(block):
            return
        decoded += len(block)
        _check_length(name, decoded, file.samplerate, decoded * file.channels)
        yield _mean(block, name)


def _mean(channels: np.ndarray[Any, Any], name: str) -> Samples:
    """The mean of all channels [sample, channel]. Raises an InputTextError if there are samples that cannot be."""
    loudest = float(np.abs(channels).max(initial=0))
    # A number that is none is not larger either.
    if not loudest <= LOUDEST:
        message = (
            "{name} contains samples with the value {loudest:.3g}; expected numbers from −1 to 1. Save it as "
            "16-bit WAV or FLAC."
        )
        raise InputTextError(message, name=name, loudest=loudest)
    mean: Samples = channels.astype(np.float32).mean(axis=1)
    return mean


def _brought_down(blocks: Iterator[Samples], rate: int, lower: int) -> Iterator[Samples]:
    """A sound of `rate` samples a second with fewer."""
    stream = soxr.ResampleStream(rate, lower, 1, dtype="float32")
    for block in blocks:
        yield stream.resample_chunk(block)
    yield stream.resample_chunk(np.zeros(0, np.float32), last=True)


def _made(samples: Samples, rate: int, name: str) -> Sound:
    """A sound of these samples, cut to the range from −1 to 1, as players do. Raises an InputTextError if it is too
    short.
    """
    if len(samples) < SHORTEST * rate:
        message = "{name} is {seconds:.3f} seconds long; expected at least {least}."
        raise InputTextError(message, name=name, seconds=len(samples) / rate, least=SHORTEST)
    return Sound(np.clip(samples, -1, 1), rate)


def _unreadable(name: str) -> InputTextError:
    return InputTextError("{name} is not a sound that can be read; choose a WAV, FLAC, OGG or MP3 file.", name=name)
