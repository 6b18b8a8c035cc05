"""Show a matrix as a heatmap that the browser draws: exact numbers on hover, a kept row and column, zoom, pictures.

One too large to be sent whole is sent as the largest number of every block; the browser then asks `tile_server` for
exact tiles of what a person looks at.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Self

import numpy as np
from jaxtyping import Float

from viz.components.declare import declare
from viz.core import chat_roles, fingerprint, payload, theme, token_text
from viz.core.decimals import decimals_for, pack_decimals
from viz.core.focus import FocusHead
from viz.core.messages import shown
from viz.core.widget_values import sent

_COMPONENT = declare("components/matrix_picture/matrix_picture.js", "components/matrix_picture/matrix_picture.css")


@dataclass(frozen=True, slots=True)
class ColourScale:
    """How a number becomes a colour: the point at ((number - low) / (high - low)) ^ exponent along `stops`.

    Attributes:
        number: what one number is called.
        marks: what the colour bar says, as (position from 0 to 1, label).
    """

    number: str
    stops: tuple[str, ...]
    low: float
    high: float
    exponent: float
    marks: tuple[tuple[float, str], ...]

    @classmethod
    def root(cls, number: str, top: float) -> Self:
        """From 0 to `top`, by the square root: attention is spread over many keys, and small weights must be seen."""
        marks = tuple((tick**0.5, f"{tick * top:.2g}") for tick in theme.SQRT_TICKS)
        return cls(number, theme.SEQUENTIAL, 0.0, top, 0.5, marks)

    @classmethod
    def signed(cls, number: str, bound: float) -> Self:
        """From -`bound` to `bound`, night at zero."""
        marks = tuple(
            (share, f"{(2 * share - 1) * bound:+.2g}".replace("-", "−") if share != 0.5 else "0")
            for share in (0, 0.25, 0.5, 0.75, 1)
        )
        return cls(number, theme.DIVERGING, -bound, bound, 1.0, marks)


@dataclass(frozen=True, slots=True)
class Kept:
    """The row and the column that are framed, if any; both count from 0."""

    row: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """Where the picture may take what comes next from, before Python sends it.

    Attributes:
        shows: what is shown: the address of its tiles, layer, head.
        addresses: of all tiles whose heads have the numbers, rows and columns that Python would send.
    """

    shows: tuple[str, int, int]
    addresses: tuple[str, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class MatrixData:
    """What there is to draw.

    Attributes:
        values: exact; NaN where there is no number. Of a matrix that is pooled, the largest number of every block.
        row_tokens, column_tokens: one for each row and each column.
        scale: the colours.
        title: above the picture and on hover.
        label: what the picture is, read aloud.
        note: what to know of the numbers, on hover.
        caption: what is shown, over the title of a saved picture, where no page says it.
        row_name, column_name: what rows and columns are, in a saved picture.
        file_name: of saved pictures, without their ending.
        block: the rows and columns of a block; those at the ends may be smaller. No number is then below 0.
        row_roles, column_roles: runs of rows, and of columns, that are of one role of a chat, named beside them.
        address: under which `tile_server` offers tiles of a matrix that is pooled.
        focus: what the head is called, and by which tokens the page's other pictures know its rows and columns.
    """

    values: Float[np.ndarray, "row column"]
    row_tokens: Sequence[str]
    column_tokens: Sequence[str]
    scale: ColourScale
    title: str
    label: str
    note: str = ""
    caption: str = ""
    row_name: str = ""
    column_name: str = ""
    file_name: str = "matrix"
    block: tuple[int, int] = (1, 1)
    address: str = ""
    row_roles: Sequence[chat_roles.Run] = ()
    column_roles: Sequence[chat_roles.Run] = ()
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
        return fingerprint.digest(*self.row_tokens, "\n", *self.column_tokens)


def pack_matrix(data: MatrixData, kept: Kept, preview: Preview | None) -> bytes:
    """The payload of `matrix_picture.js`: labels, colours and what is kept, and the numbers.

    These travel as float32; maxima of blocks as so many decimals, which is shorter.
    """
    scale = data.scale
    decimals = decimals_for(scale.high)
    header = {
        "rowTokens": token_text.display_tokens(data.row_tokens),
        "columnTokens": token_text.display_tokens(data.column_tokens),
        "axes": data.axes,
        "title": shown(data.title),
        "label": shown(data.label),
        "note": shown(data.note),
        "caption": shown(data.caption),
        "sides": [shown(data.row_name), shown(data.column_name)],
        "fileName": data.file_name,
        "number": shown(scale.number),
        "stops": scale.stops,
        "low": scale.low,
        "high": scale.high,
        "exponent": scale.exponent,
        "marks": scale.marks,
        "kept": [kept.row, kept.column],
        "rowRoles": chat_roles.packed(data.row_roles),
        "columnRoles": chat_roles.packed(data.column_roles),
        "keptColour": theme.HEAD_COLOURS[1],
        "shows": None if preview is None else preview.shows,
        "previews": [] if preview is None else preview.addresses,
        "focus": None if data.focus is None else asdict(data.focus),
        "deep": {"address": data.address, "block": data.block, "decimals": decimals} if data.is_pooled else None,
    }
    if data.is_pooled:
        return payload.pack(header, np.frombuffer(pack_decimals(data.values, decimals), np.uint8))
    return payload.pack(header, np.asarray(data.values, np.float32))


def read_kept(value: object, data: MatrixData) -> Kept | None:
    """What the browser sent, if it speaks of this matrix: it may still speak of the one before."""
    if not isinstance(value, Mapping) or value.get("axes") != data.axes:
        return None
    positions = value.get("row"), value.get("column")
    for position, count in zip(positions, data.shape, strict=True):
        # A boolean is an int to Python, but no position.
        if position is not None and not (type(position) is int and 0 <= position < count):
            return None
    return Kept(*positions)


def matrix_picture(
    data: MatrixData,
    kept: Kept,
    *,
    on_keep: Callable[[Kept], None],
    key: str,
    preview: Preview | None = None,
) -> None:
    """Show a matrix.

    Args:
        data: what to draw.
        kept: the row and column to frame.
        on_keep: called before the next run, with the row and column that a person has chosen.
        key: of the component.
        preview: lets a head that a grid of tiles announces be drawn at once.
    """

    def take() -> None:
        choice = read_kept(sent(key, "kept"), data)
        if choice is not None:
            on_keep(choice)

    _COMPONENT(data=pack_matrix(data, kept, preview), key=key, on_kept_change=take)
