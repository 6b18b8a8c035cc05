"""The open head of a picture: over it, the row of the patch that is chosen."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float, UInt8

from viz import theme
from viz.access import attention, models
from viz.access.attention import MatrixView
from viz.pictures.component import Component
from viz.pictures.payload import Tokens, hear
from viz.selection import state
from viz.text.messages import shown
from viz.text.written import file_name, head_label, head_name
from viz.ui import frame
from viz.ui.head_metrics import MEASURES

if TYPE_CHECKING:
    from model import Trace

_COMPONENT: Final = Component(
    "pages/attention/opened_head/picture_attention.js", "pages/attention/opened_head/picture_attention.css"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class PictureData:
    """What there is to draw."""

    pixels: UInt8[np.ndarray, "height width 3"]  #: the picture as the model saw it
    #: rows, columns: of patches.
    rows: int
    columns: int
    first_patch: int  #: token of the first patch; those before it have no place in the picture
    tokens: Tokens  #: one a row and column of `values`
    #: one head's numbers, not below 0: every query's, or that of the query that is shown alone.
    values: Float[np.ndarray, "query key"]
    number: str  #: what one of them is called
    title: str  #: stands above, and on hover
    query: int  #: the token whose row is drawn
    file_name: str = "picture"  #: of saved pictures, without their ending
    stops: tuple[str, ...] = theme.SEQUENTIAL
    query_colour: str = theme.ORANGE

    def __post_init__(self) -> None:
        count = self.first_patch + self.rows * self.columns
        assert self.values.shape in ((count, count), (1, count)), "a row for each token, or one"
        assert len(self.tokens) == count, "a column for each token"

    def derived(self) -> dict[str, object]:
        """The size of the picture, in pixels."""
        height, width, _ = self.pixels.shape
        return {"height": height, "width": width}


def show_picture(trace: "Trace", site: str) -> None:
    """The source as a picture, and over it the open head's row of the chosen patch; nothing of a text."""
    grid = trace.source.grid
    if grid is None:
        return
    selection = state.current()
    common = selection.common
    measure = MEASURES[common.measure]
    head = common.head if measure.is_per_head else 0
    tokens = trace.source_tokens
    is_long = attention.is_long(trace, site)
    if is_long and not measure.is_per_head and len(tokens) > attention.MAX_ROLLOUT:
        # The matrix below says why there is none.
        return
    query = state.position("token", len(tokens), 0 if grid.first_patch else len(tokens) // 2)
    # Patches have places in the picture: they are neither joined to words nor left out.
    view = MatrixView(selection.common.measure, whole_words=False, special_tokens=True)
    reader, layer = models.reader(selection.model), selection.common.layer
    if is_long:
        values = attention.long_row(trace, reader, site, layer, head, query, view)
    else:
        values = attention.opened_layer(trace, reader, site, layer, view).values[head]
    picture_attention(
        PictureData(
            pixels=grid.pixels.numpy(),
            rows=grid.rows,
            columns=grid.columns,
            first_patch=grid.first_patch,
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
    frame.small_print(
        "What the framed patch attends to: the lighter a patch, the more weight. Click another patch, or move "
        "with the arrow keys and press Enter, to choose it as query. Below is the same head as a matrix: each "
        "row is a patch (row·column)."
    )


def picture_attention(data: PictureData, *, on_query: Callable[[int], object], key: str) -> None:
    """Show a picture with the row of a query over it; `on_query` is called with the token that a person chooses."""
    _COMPONENT.show(data, key=key, query=hear(on_query, int, query=range(len(data.tokens))))
