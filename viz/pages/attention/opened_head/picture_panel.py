"""One head of a model of pictures: its row over the picture, in which a person chooses another query."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float, UInt8

from viz import theme
from viz.access import attention, long_texts, models
from viz.access.attention import MatrixView
from viz.pictures.component import Component
from viz.pictures.payload import Tokens, hear
from viz.selection import state
from viz.text.messages import _, shown
from viz.text.sites import file_name, head_label, head_name
from viz.ui.measures import MEASURES

if TYPE_CHECKING:
    from model import Trace


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


def show(trace: "Trace", site: str) -> None:
    """The picture, and over it the open head's row of the chosen patch; nothing for a model of text."""
    picture = trace.picture
    if picture is None:
        return
    selection = state.current()
    common = selection.common
    measure = MEASURES[common.measure]
    head = common.head if measure.is_per_head else 0
    tokens = trace.source_tokens
    is_long = long_texts.is_long(trace, site)
    if is_long and not measure.is_per_head and len(tokens) > long_texts.MAX_ROLLOUT:
        # The matrix below says why there is none.
        return
    query = state.position("token", len(tokens), 0 if picture.first_patch else len(tokens) // 2)
    # Patches have places in the picture: they are neither joined to words nor left out.
    view = MatrixView(selection.common.measure, whole_words=False, special_tokens=True)
    reader, layer = models.reader(selection.model), selection.common.layer
    if is_long:
        values = long_texts.long_row(trace, reader, site, layer, head, query, view)
    else:
        values = attention.opened_layer(trace, reader, site, layer, view).values[head]
    picture_attention(
        PictureData(
            pixels=picture.pixels.numpy(),
            rows=picture.rows,
            columns=picture.columns,
            first_patch=picture.first_patch,
            tokens=tokens,
            values=values,
            number=shown(measure.number),
            title=head_label(common.layer, head if measure.is_per_head else None),
            query=query,
            file_name=file_name("picture", head_name(site, common.layer, head), sentence=trace.text),
        ),
        on_query=lambda chosen: state.change(token=chosen),
        key="picture-head",
    )
    st.caption(
        _(
            "What the framed patch attends to: the lighter a patch, the more weight. Click another patch, or move "
            "with the arrow keys and press Enter, to choose it as query. Below is the same head as a matrix: each "
            "row is a patch (row·column)."
        )
    )


def picture_attention(data: PictureData, *, on_query: Callable[[int], object], key: str) -> None:
    """Show a picture with the row of a query over it; `on_query` is called with the token that a person chooses."""
    _COMPONENT.show(data, key=key, query=hear(on_query, int, query=range(len(data.tokens))))
