"""What one run read: its positions, what each is called, and the picture or the sound that they are parts of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Any, ClassVar, Final, NamedTuple, Self

import torch
from jaxtyping import Bool, Int16, Int32, UInt8
from torch import Tensor, nn

from model import checked
from model.abilities import SourceKind
from model.errors import Message, said

WORD_BEGIN: Final = "▁"
"""SentencePiece's sign for the space before a word; in front of every token that begins one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Grid:
    """A picture, and the rectangle of it that each position is of.

    Rectangles may overlap, as those of tiles and of a thumbnail do, and need not cover the picture.
    """

    pixels: UInt8[Tensor, "height width 3"]
    #: left, top, right, bottom, in pixels; all 0 of a position without a place: a special token, a register, padding.
    rectangles: Int32[Tensor, "position 4"]

    def __post_init__(self) -> None:
        height, width = self.pixels.shape[:2]
        corners = self.rectangles.long()
        is_within = (corners[:, :2] <= corners[:, 2:]).all() and bool(
            (corners <= torch.tensor([width, height] * 2)).all()
        )
        if self.pixels.shape[2:] != (3,) or bool((corners < 0).any()) or not is_within or not bool(self.placed.any()):
            raise ValueError("the patches do not fit the picture")

    @classmethod
    def regular(
        cls, pixels: UInt8[Tensor, "height width 3"], rows: int, columns: int, size: tuple[int, int], *,
        before: int = 0, after: int = 0,
    ) -> Self:  # fmt: skip
        """Patches of one size (height, width), row by row, with so many positions without a place around them."""
        lines, places = torch.arange(rows), torch.arange(columns)
        top, left = (each.flatten() for each in torch.meshgrid(lines * size[0], places * size[1], indexing="ij"))
        placed = torch.stack([left, top, left + size[1], top + size[0]], dim=1).int()
        return cls(pixels=pixels, rectangles=nn.functional.pad(placed, (0, 0, before, after)))

    @property
    def placed(self) -> Bool[Tensor, "position"]:
        """Which positions have a place in the picture."""
        return (self.rectangles[:, 2:] > self.rectangles[:, :2]).all(1)

    @property
    def rows(self) -> int:
        """At how many heights patches begin."""
        return len(set(self.rectangles[self.placed, 1].tolist()))

    @property
    def columns(self) -> int:
        """At how many places of the width patches begin."""
        return len(set(self.rectangles[self.placed, 0].tolist()))

    @property
    def first_patch(self) -> int:
        """How many positions without a place are before the first that has one."""
        return int(self.placed.int().argmax())


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


ReadArray = Callable[[str, str], Tensor]
"""An array of a file by its name and the kind of its numbers. Raises a KeyError or a ValueError if it has none."""


class Kept(NamedTuple):
    """What a file keeps of a source beside its text, tokens and ids."""

    fields: Mapping[str, Any]  #: as JSON has them
    arrays: Mapping[str, Tensor]


@dataclass(frozen=True, eq=False, kw_only=True)
class Source:
    """What one run read. A file of a trace keeps all of it but `own_names`."""

    kind: ClassVar[SourceKind]
    has_words: ClassVar[bool] = False  #: whether its positions are pieces of words
    limit: ClassVar[Message]  #: how many positions a model reads at most, `count`
    span_choices: ClassVar[tuple[float, ...]] = ()  #: seconds of the spans into which it may be cut
    #: the setting by which a folder tells that what makes numbers of what a model reads makes them of this
    extractor_setting: ClassVar[str] = ""

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
    def kept(self) -> Kept:
        """What a file keeps beside what every source has."""
        return Kept({}, {})

    @classmethod
    def read_parts(cls, fields: Mapping[str, Any], array: ReadArray) -> Mapping[str, Any]:
        """The fields of a source of this kind that a file `kept`. Raises a KeyError or a ValueError if it did not."""
        return {}

    @property
    def names(self) -> tuple[str, ...]:
        """What the positions are called in labels."""
        return self.own_names or self.tokens

    @property
    def span_seconds(self) -> float:
        """The least of `span_choices` that cuts it into few spans; 0 of what has none."""
        return 0.0

    def spans(self, seconds: float = 0.0) -> tuple[range, ...]:
        """The positions by those that are shown and hidden together, in order: each alone, but for a sound's."""
        return tuple(range(at, at + 1) for at in range(len(self.tokens)))

    def span_names(self, seconds: float = 0.0) -> tuple[str, ...]:
        """The names of `spans(seconds)`, in the same order."""
        return self.names

    @property
    def content(self) -> bytes:
        """What tells it from another one of this name; empty where its ids do."""
        return b""

    @property
    def special(self) -> frozenset[str]:
        """The names of the positions that are no part of what was read."""
        return frozenset()

    @property
    def caption(self) -> tuple[Message, Message] | None:
        """What stands above a figure beside its name: what it is, and how the model reads it; None of a text."""
        return None


#: What a file kept of a grid whose patches were of one size.
_BEFORE: Final = ("rows", "columns", "first_patch")


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
    extractor_setting = "image_processor_type"

    grid: Grid

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.grid.rectangles):
            raise ValueError("the patches do not fit the tokens")

    @property
    def kept(self) -> Kept:
        """See `Source`."""
        return Kept({}, {"picture": self.grid.pixels, "picture_rectangles": self.grid.rectangles})

    @classmethod
    def read_parts(cls, fields: Mapping[str, Any], array: ReadArray) -> Mapping[str, Any]:
        """See `Source`."""
        pixels = array("picture", "u")
        if "picture" not in fields:
            return {"grid": Grid(pixels=pixels, rectangles=array("picture_rectangles", "i").int())}
        # Written before each patch had its own rectangle: all were of one size, from the first patch on.
        rows, columns, first = (checked.count(fields["picture"][part], part) for part in _BEFORE)
        if first + rows * columns != len(fields["source_tokens"]):
            raise ValueError("the patches do not fit the tokens")
        size = pixels.size(0) // rows, pixels.size(1) // columns
        return {"grid": Grid.regular(pixels, rows, columns, size, before=first)}

    @classmethod
    def of_grid(cls, name: str, grid: Grid, special: Sequence[str]) -> Self:
        """The source of these patches, each called "row·column"; `special` are the names of the other positions."""
        lefts, tops = (sorted(set(grid.rectangles[grid.placed, side].tolist())) for side in (0, 1))
        others, placed = iter(special), grid.placed.tolist()
        tokens = tuple(
            f"{tops.index(top) + 1}·{lefts.index(left) + 1}" if is_placed else next(others)
            for (left, top, *_), is_placed in zip(grid.rectangles.tolist(), placed, strict=True)
        )
        return cls(text=name, tokens=tokens, ids=tuple(range(len(tokens))), grid=grid)

    @property
    def special(self) -> frozenset[str]:
        """The names of the positions that have no place."""
        return frozenset(
            name for name, is_placed in zip(self.tokens, self.grid.placed.tolist(), strict=True) if not is_placed
        )

    @property
    def content(self) -> bytes:
        """The bytes of its pixels."""
        return self.grid.pixels.numpy().tobytes()

    @property
    def caption(self) -> tuple[Message, Message]:
        """Its size and its patches."""
        height, width = self.grid.pixels.shape[:2]
        message = "{width} × {height} pixels as read by the model, {rows} × {columns} patches"
        rows, columns = self.grid.rows, self.grid.columns
        return said("PICTURE"), said(message, width=width, height=height, rows=rows, columns=columns)


#: So many spans a sound is cut into at most without a choice, where one of the choices makes so few.
MOST_SPANS: Final = 64


@dataclass(frozen=True, eq=False, kw_only=True)
class SoundSource(Source):
    """A sound, or a window of one, as the model got it: one channel, at the model's own rate."""

    kind = "sound"
    limit = said("{count:,} frames")
    span_choices = (0.1, 0.2, 0.5, 1.0)
    extractor_setting = "sampling_rate"

    waveform: Waveform

    def __post_init__(self) -> None:
        wave = self.waveform
        is_sound = wave.samples.dim() == 1 and wave.samples.dtype == torch.int16 and len(wave.samples) > 0
        if not (is_sound and wave.rate > 0 and 0 < wave.seconds_per_frame < inf):
            raise ValueError("a sound needs samples of 16 bits, their rate and the length of a frame")

    @property
    def kept(self) -> Kept:
        """See `Source`."""
        wave = self.waveform
        fields = {"rate": wave.rate, "seconds_per_frame": wave.seconds_per_frame}
        return Kept({"sound": fields}, {"sound": wave.samples})

    @classmethod
    def read_parts(cls, fields: Mapping[str, Any], array: ReadArray) -> Mapping[str, Any]:
        """See `Source`."""
        rate, seconds = checked.count(fields["sound"]["rate"], "rate"), float(fields["sound"]["seconds_per_frame"])
        return {"waveform": Waveform(samples=array("sound", "i"), rate=rate, seconds_per_frame=seconds)}

    @classmethod
    def of_frames(cls, name: str, waveform: Waveform, frames: int) -> Self:
        """The source of so many frames, each called by the time at which it begins, from the beginning of the sound."""
        seconds = waveform.seconds_per_frame
        digits = 2 if round(seconds * 1_000) % 10 == 0 else 3
        tokens = tuple(f"{frame * seconds:.{digits}f}\N{NARROW NO-BREAK SPACE}s" for frame in range(frames))
        return cls(text=name, tokens=tokens, ids=tuple(range(frames)), waveform=waveform)

    @property
    def content(self) -> bytes:
        """The bytes of its samples."""
        return self.waveform.samples.numpy().tobytes()

    @property
    def span_seconds(self) -> float:
        """See `Source`."""
        least = self.sounding / MOST_SPANS * self.waveform.seconds_per_frame
        return next((each for each in self.span_choices if each >= least), self.span_choices[-1])

    def spans(self, seconds: float = 0.0) -> tuple[range, ...]:
        """The frames by so many seconds, by default `span_seconds`; all that was added after the sound is one more."""
        count = max(1, round((seconds or self.span_seconds) / self.waveform.seconds_per_frame))
        spans = [range(first, min(first + count, self.sounding)) for first in range(0, self.sounding, count)]
        after = range(self.sounding, len(self.tokens))
        return (*spans, after) if after else tuple(spans)

    def span_names(self, seconds: float = 0.0) -> tuple[str, ...]:
        """The names of `spans(seconds)`: from when to when each sounds; the silence added at the end has one name."""

        def moment(frame: int) -> str:
            return f"{round(frame * self.waveform.seconds_per_frame, 2):g}"

        return tuple(
            said("after the sound")
            if span.start >= self.sounding
            else said("{begin}–{end} s", begin=moment(span.start), end=moment(span.stop))
            for span in self.spans(seconds)
        )

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
