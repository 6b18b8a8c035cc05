"""A picture that a model read patch by patch."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, islice, product, repeat
from types import MappingProxyType
from typing import Any, Self

from jaxtyping import UInt8
from torch import Tensor

from model import checked
from model.errors import Message, said
from model.sources.source import WORD_BEGIN, Grid, Source


@dataclass(frozen=True, eq=False, kw_only=True)
class PictureSource(Source):
    """A picture from a file: its positions are patches, after the special tokens that the model has before them."""

    kind = "picture"
    arrays = MappingProxyType({"picture": "u"})

    grid: Grid  #: the picture as the model got it, resized, before its colours were normalised, and its patches

    def __post_init__(self) -> None:
        grid = self.grid
        if grid.pixels.shape[2:] != (3,) or len(self.tokens) != grid.first + grid.rows * grid.columns:
            raise ValueError("the patches do not fit the tokens")

    @classmethod
    def of_patches(
        cls, name: str, pixels: UInt8[Tensor, "height width 3"], rows: int, columns: int, first: int
    ) -> Self:
        """The source of so many patches, and so many special tokens before them; a patch is called "row·column"."""
        special = islice(chain(("[CLS]", "[DIST]"), repeat("[REG]")), first)
        patches = (f"{WORD_BEGIN}{row}·{column}" for row, column in product(range(1, rows + 1), range(1, columns + 1)))
        return cls(
            text=name, tokens=(*special, *patches), grid=Grid(pixels=pixels, rows=rows, columns=columns, first=first)
        )

    @property
    def special_tokens(self) -> frozenset[str]:
        """The tokens that are no patches."""
        return frozenset(self.tokens[: self.grid.first])

    @property
    def caption(self) -> tuple[Message, Message]:
        """Its size and its patches."""
        height, width = self.grid.pixels.shape[:2]
        message = "{width} × {height} pixels as the model reads it, {rows} × {columns} patches"
        rows, columns = self.grid.rows, self.grid.columns
        return said("PICTURE"), said(message, width=width, height=height, rows=rows, columns=columns)

    @property
    def content(self) -> bytes:
        """The pixels."""
        return self.grid.pixels.numpy().tobytes()

    @property
    def stored(self) -> tuple[Mapping[str, Any], Mapping[str, Tensor]]:
        """The pixels and the grid of the patches."""
        grid = self.grid
        return {"rows": grid.rows, "columns": grid.columns, "first_patch": grid.first}, {"picture": grid.pixels}

    @classmethod
    def restored(
        cls, text: str, tokens: tuple[str, ...], values: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> Self:
        """See `Source`."""
        rows, columns, first = (checked.count(values[name], name) for name in ("rows", "columns", "first_patch"))
        grid = Grid(pixels=tensors["picture"], rows=rows, columns=columns, first=first)
        return cls(text=text, tokens=tokens, grid=grid)
