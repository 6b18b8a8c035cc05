"""A picture with one head's row drawn over its patches; a click on a patch, or a button, makes another token the query.

Sends the pixels and the head's weights to `picture_attention.js` and reads back which token a person chose.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt8

from viz.components.declare import declare
from viz.core import payload, theme, token_text
from viz.core.widget_values import sent

_COMPONENT = declare(
    "pages/attention/opened_head/picture_attention.js",
    "pages/attention/opened_head/picture_attention.css",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class PictureData:
    """What there is to draw.

    Attributes:
        pixels: the picture as the model saw it.
        rows, columns: of patches.
        first_patch: token of the first patch; those before it have no place in the picture.
        tokens: one a row and column of `values`.
        values: one head's numbers, not below 0: every query's, or that of the query that is shown alone.
        number: what one of them is called.
        title: stands above, and on hover.
        file_name: of saved pictures, without their ending.
    """

    pixels: UInt8[np.ndarray, "height width 3"]
    rows: int
    columns: int
    first_patch: int
    tokens: Sequence[str]
    values: Float[np.ndarray, "query key"]
    number: str
    title: str
    file_name: str = "picture"

    def __post_init__(self) -> None:
        count = self.first_patch + self.rows * self.columns
        assert self.values.shape in ((count, count), (1, count)), "a row for each token, or one"
        assert len(self.tokens) == count, "a column for each token"


def pack_picture(data: PictureData, query: int) -> bytes:
    """The payload of `picture_attention.js`: the picture, the numbers, and which token is the query."""
    height, width, _ = data.pixels.shape
    header = {
        "height": height,
        "width": width,
        "rows": data.rows,
        "columns": data.columns,
        "firstPatch": data.first_patch,
        "tokens": token_text.display_tokens(data.tokens),
        "number": data.number,
        "title": data.title,
        "fileName": data.file_name,
        "stops": theme.SEQUENTIAL,
        "queryColour": theme.HEAD_COLOURS[1],
        "query": query,
    }
    return payload.pack(header, np.ascontiguousarray(data.pixels), np.asarray(data.values, np.float32))


def read_query(value: object, count: int) -> int | None:
    """The token that the browser sent, if there is one: it may still speak of another picture."""
    query = value.get("query") if isinstance(value, Mapping) else None
    return query if type(query) is int and 0 <= query < count else None


def picture_attention(data: PictureData, query: int, *, on_query: Callable[[int], None], key: str) -> None:
    """Show a picture with the row of `query` over it; `on_query` is called with the token that a person chooses."""

    def take() -> None:
        chosen = read_query(sent(key, "query"), len(data.tokens))
        if chosen is not None:
            on_query(chosen)

    _COMPONENT(data=pack_picture(data, query), key=key, on_query_change=take)
