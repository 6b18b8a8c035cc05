"""What one run read: its positions, what each is called, and the picture that they are drawn in."""

from dataclasses import dataclass
from itertools import chain, islice, product, repeat
from typing import ClassVar, Final, Self

from jaxtyping import UInt8
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
    grid: Grid | None = None  #: the picture that its positions are drawn in; None where they are words

    @property
    def names(self) -> tuple[str, ...]:
        """What the positions are called in labels."""
        return self.own_names or self.tokens

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
    def caption(self) -> tuple[Message, Message]:
        """Its size and its patches."""
        height, width = self.grid.pixels.shape[:2]
        message = "{width} × {height} pixels as the model reads it, {rows} × {columns} patches"
        rows, columns = self.grid.rows, self.grid.columns
        return said("PICTURE"), said(message, width=width, height=height, rows=rows, columns=columns)
