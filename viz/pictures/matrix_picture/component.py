"""Show a matrix as a heatmap that the browser draws: exact numbers on hover, a kept row and column, zoom, pictures.

One too large to be sent whole is sent as the largest number of every block; the browser then asks `tile_server` for
exact tiles of what a person looks at.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Self

import numpy as np
from jaxtyping import Float

from viz import theme
from viz.pictures import payload
from viz.pictures.component import Component
from viz.pictures.focus import FocusAxis, FocusHead, Roles
from viz.pictures.payload import FLAT, LOCAL, Text, Tokens, fingerprint
from viz.pictures.tiles.codes import decimals_for, pack_decimals
from viz.text.messages import shown
from viz.text.written import with_minus

COMPONENT = Component("pictures/matrix_picture/matrix_picture.js", "pictures/matrix_picture/matrix_picture.css")


@dataclass(frozen=True, slots=True)
class ColourScale:
    """How a number becomes a colour: the point at ((number - low) / (high - low)) ^ exponent along `stops`."""

    number: Text  #: what one number is called
    stops: tuple[str, ...]
    low: float
    high: float
    exponent: float
    marks: tuple[tuple[float, Text], ...]  #: what the colour bar says, as (position from 0 to 1, label)

    @classmethod
    def root(cls, number: str, top: float) -> Self:
        """From 0 to `top`, by the square root: attention is spread over many keys, and small weights must be seen."""
        marks = tuple((tick**0.5, f"{tick * top:.2g}") for tick in theme.SQRT_TICKS)
        return cls(number, theme.SEQUENTIAL, 0.0, top, 0.5, marks)

    @classmethod
    def signed(cls, number: str, bound: float) -> Self:
        """From -`bound` to `bound`, night at zero."""
        marks = tuple(
            (share, with_minus(f"{(2 * share - 1) * bound:+.2g}") if share != 0.5 else "0")
            for share in (0, 0.25, 0.5, 0.75, 1)
        )
        return cls(number, theme.DIVERGING, -bound, bound, 1.0, marks)


@dataclass(frozen=True, slots=True)
class Kept:
    """The row and the column that are framed, if any; both count from 0."""

    row: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class PreviewSides:
    """The rows and columns of a preview where they are not the tile's own."""

    #: row_tokens, column_tokens: what they are called.
    row_tokens: Tokens
    column_tokens: Tokens
    #: rows, columns: the tokens of each, of which weights are averaged over rows and summed over columns.
    rows: FocusAxis
    columns: FocusAxis


@dataclass(frozen=True, slots=True)
class Preview:
    """Where the picture may take what comes next from, before Python sends it."""

    shows: tuple[str, int, int] | None = None  #: what is shown: the address of its tiles, layer, head
    #: the addresses of all tiles whose heads have the numbers that Python would send, and between what it would.
    previews: Mapping[str, PreviewSides | None] = field(default_factory=dict)


NO_PREVIEW: Final = Preview()


@dataclass(frozen=True, eq=False, kw_only=True)
class MatrixData:
    """What there is to draw."""

    #: exact; NaN where there is no number. Of a matrix that is pooled, the largest number of every block.
    values: Annotated[Float[np.ndarray, "row column"], LOCAL]
    #: row_tokens, column_tokens: one for each row and each column.
    row_tokens: Tokens
    column_tokens: Tokens
    scale: Annotated[ColourScale, FLAT]  #: the colours
    title: Text  #: above the picture and on hover
    label: Text  #: what the picture is, read aloud
    note: Text = ""  #: what to know of the numbers, on hover
    caption: Text = ""  #: what is shown, over the title of a saved picture, where no page says it
    #: row_name, column_name: what rows and columns are, in a saved picture.
    row_name: Annotated[str, LOCAL] = ""
    column_name: Annotated[str, LOCAL] = ""
    file_name: str  #: of saved pictures, without their ending
    #: the rows and columns of a block; those at the ends may be smaller. No number is then below 0.
    block: Annotated[tuple[int, int], LOCAL] = (1, 1)
    address: Annotated[str, LOCAL] = ""  #: under which `tile_server` offers tiles of a matrix that is pooled
    #: row_roles, column_roles: runs of rows, and of columns, that are of one role of a chat, named beside them.
    row_roles: Roles = ()
    column_roles: Roles = ()
    rows_write: bool = (
        False  #: whether a row that is named "die → Straße" stands for what it writes, or for what it reads
    )
    #: what the head is called, and by which tokens the page's other pictures know its rows and columns.
    focus: FocusHead | None = None

    def __post_init__(self) -> None:
        expected = tuple(-(-count // size) for count, size in zip(self.shape, self.block, strict=True))
        assert self.values.shape == expected, f"values have shape {self.values.shape}, labels {expected}"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix itself."""
        return len(self.row_tokens), len(self.column_tokens)

    @property
    def is_pooled(self) -> bool:
        """Whether numbers stand for blocks."""
        return self.block != (1, 1)

    @property
    def axes(self) -> str:
        """A fingerprint of the labels, by which a late report is known."""
        return fingerprint(*self.row_tokens, "\n", *self.column_tokens)

    def derived(self) -> dict[str, object]:
        """What rows and columns are; where tiles of a matrix that is pooled are asked for; the numbers.

        These travel as float32; maxima of blocks as so many decimals, which is shorter.
        """
        decimals = decimals_for(self.scale.high)
        numbers = np.asarray(self.values, np.float32)
        if self.is_pooled:
            numbers = np.frombuffer(pack_decimals(self.values, decimals), np.uint8)
        return {
            "axes": self.axes,
            "sides": [shown(self.row_name), shown(self.column_name)],
            "deep": {"address": self.address, "block": self.block, "decimals": decimals} if self.is_pooled else None,
            "numbers": numbers,
        }


def choices(kept: Kept, preview: Preview = NO_PREVIEW) -> dict[str, object]:
    """What the payload of a matrix has besides the matrix: what is kept, and what a grid may announce."""
    return {"kept": [kept.row, kept.column], "kept_colour": theme.ORANGE, **payload.encoded(preview)}


def matrix_picture(
    data: MatrixData, kept: Kept, *, on_keep: Callable[[Kept], object], key: str, preview: Preview = NO_PREVIEW
) -> None:
    """Show a matrix; `on_keep` gets the cell that a person keeps, `preview` draws a head announced by tiles at once."""
    rows, columns = map(range, data.shape)
    take = payload.hear(on_keep, Kept, about={"axes": data.axes}, row=rows, column=columns)
    COMPONENT.show(data, key=key, more=choices(kept, preview), kept=take)
