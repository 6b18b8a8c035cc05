"""What one run read: its positions, what each is called, and the picture or the sound that they are parts of."""

from dataclasses import dataclass
from itertools import chain, islice, product, repeat
from math import ceil, inf
from typing import ClassVar, Final, Self

import torch
from jaxtyping import Int16, UInt8
from torch import Tensor

from model.abilities import SourceKind
from model.errors import Message, said

WORD_BEGIN: Final = "▁"
"""SentencePiece's sign for the space before a word; in front of every token that begins one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Grid:
    """A picture whose patches are the positions from the first patch on, line by line; all are of one size."""

    pixels: UInt8[Tensor, "height width 3"]
    #: rows, columns: of patches.
    rows: int
    columns: int
    first_patch: int  #: the positions before it have no place in the picture


@dataclass(frozen=True, eq=False, kw_only=True)
class Waveform:
    """A sound whose frames are the positions, one after the other; all are of one length.

    A model may read more frames than it has: then silence was filled in after it.
    """

    samples: Int16[Tensor, "sample"]  #: as the model got them, but 16 bits each: enough to draw and to play them
    rate: int  #: samples a second
    seconds_per_frame: float

    @property
    def seconds(self) -> float:
        """How long the sound is."""
        return len(self.samples) / self.rate

    @property
    def frames(self) -> int:
        """How many frames begin before the sound ends."""
        # A frame that begins at its very end, but for what the division rounds, is none of them.
        return ceil(self.seconds / self.seconds_per_frame - 1e-6)


@dataclass(frozen=True, eq=False, kw_only=True)
class Source:
    """What one run read. A file of a trace keeps all of it but `own_names`."""

    kind: ClassVar[SourceKind]
    has_words: ClassVar[bool] = False  #: whether its positions are pieces of words
    limit: ClassVar[Message]  #: how many positions a model reads at most, `count`

    text: str  #: as typed; of a file, its name
    #: tokens, ids: what an encoder read, a position each; empty of a model without one.
    tokens: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()
    #: the tokens as their own tokenizer writes them, where that is not as a `Trace` does: BERT's pieces with "##" in
    #: front go on with a word.
    own_names: tuple[str, ...] = ()
    #: grid, waveform: the picture or the sound that its positions are parts of; None of any other source.
    grid: Grid | None = None
    waveform: Waveform | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What the positions are called in labels."""
        return self.own_names or self.tokens

    @property
    def content(self) -> bytes:
        """What tells it from another one of this name; empty where its ids do."""
        return b""

    @property
    def caption(self) -> tuple[Message, Message] | None:
        """What stands above a figure beside its name: what it is, and how the model reads it; None of a text."""
        return None


class TextSource(Source):
    """A text that a person typed."""

    kind = "text"
    has_words = True
    limit = said("{count:,} tokens")


@dataclass(frozen=True, eq=False, kw_only=True)
class PictureSource(Source):
    """A picture as the model got it, resized, before its colours were normalised."""

    kind = "picture"
    limit = said("{count} patches and special tokens")

    grid: Grid

    def __post_init__(self) -> None:
        grid = self.grid
        if grid.pixels.shape[2:] != (3,) or len(self.tokens) != grid.first_patch + grid.rows * grid.columns:
            raise ValueError("the patches do not fit the tokens")

    @classmethod
    def of_patches(cls, name: str, grid: Grid) -> Self:
        """The source of these patches, each called "row·column", and of the special tokens before them."""
        special = islice(chain(("[CLS]", "[DIST]"), repeat("[REG]")), grid.first_patch)
        places = product(range(1, grid.rows + 1), range(1, grid.columns + 1))
        tokens = (*special, *(f"{WORD_BEGIN}{row}·{column}" for row, column in places))
        return cls(text=name, tokens=tokens, ids=tuple(range(len(tokens))), grid=grid)

    @property
    def content(self) -> bytes:
        """The bytes of its pixels."""
        return self.grid.pixels.numpy().tobytes()

    @property
    def caption(self) -> tuple[Message, Message]:
        """Its size and its patches."""
        height, width = self.grid.pixels.shape[:2]
        message = "{width} × {height} pixels as the model reads it, {rows} × {columns} patches"
        rows, columns = self.grid.rows, self.grid.columns
        return said("PICTURE"), said(message, width=width, height=height, rows=rows, columns=columns)


@dataclass(frozen=True, eq=False, kw_only=True)
class SoundSource(Source):
    """A sound, or a window of one, as the model got it: one channel, at the model's own rate."""

    kind = "sound"
    limit = said("{count:,} frames")

    waveform: Waveform

    def __post_init__(self) -> None:
        wave = self.waveform
        is_sound = wave.samples.dim() == 1 and wave.samples.dtype == torch.int16 and len(wave.samples) > 0
        if not (is_sound and wave.rate > 0 and 0 < wave.seconds_per_frame < inf):
            raise ValueError("a sound needs samples of 16 bits, their rate and the length of a frame")

    @classmethod
    def of_frames(cls, name: str, waveform: Waveform, frames: int) -> Self:
        """The source of so many frames, each called by the time at which it begins, from the beginning of the sound."""
        seconds = waveform.seconds_per_frame
        digits = 2 if round(seconds * 1_000) % 10 == 0 else 3
        tokens = tuple(f"{WORD_BEGIN}{frame * seconds:.{digits}f}s" for frame in range(frames))
        return cls(text=name, tokens=tokens, ids=tuple(range(frames)), waveform=waveform)

    @property
    def content(self) -> bytes:
        """The bytes of its samples."""
        return self.waveform.samples.numpy().tobytes()

    @property
    def sounding(self) -> int:
        """How many frames begin before the sound ends."""
        return min(len(self.tokens), self.waveform.frames)

    @property
    def caption(self) -> tuple[Message, Message]:
        """Its length and its frames."""
        values = {
            "seconds": self.waveform.seconds,
            "kilohertz": self.waveform.rate / 1_000,
            "frames": len(self.tokens),
            "sounding": self.sounding,
            "length": round(self.waveform.seconds_per_frame, 4),
        }
        if self.sounding == len(self.tokens):
            message = said("{seconds:.2f} s at {kilohertz:g} kHz, {frames:,} frames of {length} s", **values)
            return said("SOUND"), message
        message = said(
            "{seconds:.2f} s at {kilohertz:g} kHz, {sounding:,} of {frames:,} frames of {length} s; the rest is added "
            "silence",
            **values,
        )
        return said("SOUND"), message
