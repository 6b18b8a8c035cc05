"""A picture with one head's row drawn over its patches; a click on a patch, or a button, chooses the query."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float, UInt8

from viz import theme
from viz.pictures.component import Component
from viz.pictures.payload import Tokens, hear

_COMPONENT: Final = Component(
    "pages/attention/opened_head/picture_attention.js", "pages/attention/opened_head/picture_attention.css"
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
        query: the token whose row is drawn.
        file_name: of saved pictures, without their ending.
    """

    pixels: UInt8[np.ndarray, "height width 3"]
    rows: int
    columns: int
    first_patch: int
    tokens: Tokens
    values: Float[np.ndarray, "query key"]
    number: str
    title: str
    query: int
    file_name: str = "picture"
    stops: tuple[str, ...] = theme.SEQUENTIAL
    query_colour: str = theme.HEAD_COLOURS[1]

    def __post_init__(self) -> None:
        count = self.first_patch + self.rows * self.columns
        assert self.values.shape in ((count, count), (1, count)), "a row for each token, or one"
        assert len(self.tokens) == count, "a column for each token"

    def derived(self) -> dict[str, object]:
        """The size of the picture, in pixels."""
        height, width, _ = self.pixels.shape
        return {"height": height, "width": width}


def picture_attention(data: PictureData, *, on_query: Callable[[int], object], key: str) -> None:
    """Show a picture with the row of a query over it; `on_query` is called with the token that a person chooses."""
    _COMPONENT.show(data, key=key, query=hear(on_query, int, query=range(len(data.tokens))))
