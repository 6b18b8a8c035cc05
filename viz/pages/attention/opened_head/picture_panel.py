"""The open head over the picture that was read: the row of a patch, or of a word that is written about it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
from jaxtyping import Float

from viz import theme
from viz.access import attention, models
from viz.access.attention import MatrixView
from viz.pictures.component import Component
from viz.pictures.focus import FocusAxis, grouped
from viz.pictures.payload import CHOSEN, LOCAL, Tokens, hear
from viz.pictures.source_picture import SourcePicture
from viz.selection import state
from viz.text.messages import said, shown
from viz.text.written import CROSS, DECODER, file_name, head_label, head_name
from viz.ui import finding, frame
from viz.ui.head_metrics import MEASURES

if TYPE_CHECKING:
    from model import Trace

_COMPONENT: Final = Component(
    "pages/attention/opened_head/picture_attention.js", "pages/attention/opened_head/picture_attention.css"
)
#: Sides of a picture, in pixels, that are possible at all.
_PIXELS: Final = range(1 << 16)
_HOW: Final = {
    True: said(
        "What the framed patch attends to: the lighter a patch, the more weight. Click another patch to choose it as "
        "query; drag to draw a rectangle, and heads are ranked by the weight on it. Below is the same head as a "
        "matrix: each row is a patch (row·column)."
    ),
    False: said(
        "What the model attends to while it writes the framed word: the lighter a patch, the more weight. Point at "
        "another word to see its row, here and in all tiles; point at a patch to see which words attend to it. Click a "
        "patch, or drag to draw a rectangle, and heads are ranked by the weight on it."
    ),
}


@dataclass(frozen=True)
class PictureArea:
    """A rectangle of the picture as the model saw it, in pixels; all 0 for none."""

    left: Annotated[int, _PIXELS]
    top: Annotated[int, _PIXELS]
    right: Annotated[int, _PIXELS]
    bottom: Annotated[int, _PIXELS]

    @property
    def corners(self) -> tuple[int, ...]:
        """As the selection has it; empty for none."""
        is_one = self.right > self.left and self.bottom > self.top
        return (self.left, self.top, self.right, self.bottom) if is_one else ()


@dataclass(frozen=True, eq=False, kw_only=True)
class PictureData:
    """What there is to draw."""

    picture: Annotated[SourcePicture, LOCAL]  #: as the model saw it, with a place for each column that has one
    #: one head's numbers, not below 0: every row's, or that of the query that is shown alone.
    values: Float[np.ndarray, "row token"]
    tokens: Tokens  #: one a column
    row_tokens: Tokens  #: one a row
    rows: FocusAxis  #: the tokens that rows stand for
    rows_write: bool = False  #: whether a row is named by what it reads and what it writes
    is_self: bool  #: whether rows are the same tokens as columns
    shows_special: bool = True  #: whether what has no place in the picture is shown beside it
    number: str  #: what one of them is called
    title: str  #: stands above, and on hover
    query: int  #: the row that is drawn
    file_name: str = "picture"  #: of saved pictures, without their ending
    stops: tuple[str, ...] = theme.SEQUENTIAL
    query_colour: str = theme.ORANGE
    area_colour: str = theme.BLUE
    area: Annotated[tuple[int, ...] | None, CHOSEN]  #: the rectangle that is drawn: left, top, right, bottom

    def __post_init__(self) -> None:
        assert self.values.shape in ((len(self.row_tokens), len(self.tokens)), (1, len(self.tokens))), "a row each"
        assert len(self.tokens) == len(self.picture.rectangles), "a rectangle for each column"

    def derived(self) -> dict[str, object]:
        """The picture and its size."""
        return self.picture.derived()


def show_picture(trace: "Trace", site: str) -> None:
    """The source as a picture, and over it the open head's row of the chosen query; nothing of a text."""
    grid = trace.source.grid
    if grid is None or site == DECODER:
        return
    common = state.current().common
    measure = MEASURES[common.measure]
    longest = max(map(len, trace.axis_tokens(site)))
    if attention.is_long(trace, site) and not measure.is_per_head and longest > attention.MAX_ROLLOUT:
        # The matrix below says why there is none.
        return
    data = over_picture(trace, site)
    picture_attention(
        data, on_query=partial(_choose, trace, site), on_area=partial(_ask, trace, site, data.query), key="picture-head"
    )
    frame.caption(_HOW[data.is_self])


def over_picture(trace: "Trace", site: str) -> PictureData:
    """The open head over the picture, exact: all rows, but of a long encoder's own attention one."""
    selection, grid, picture = state.current(), trace.source.grid, SourcePicture.of(trace.source)
    assert grid is not None, "asked for of a picture"
    assert picture is not None, "it has a grid"
    common, reader = selection.common, models.reader(selection.model)
    measure, is_self = MEASURES[common.measure], site != CROSS
    head = common.head if measure.is_per_head else 0
    view = view_of(site)
    queries, keys = attention.shown_axes(trace, site, view)
    assert len(keys.labels) == len(grid.rectangles), "a patch is no part of a word"
    # A patch in the middle, where none is chosen: in the corner there is mostly nothing.
    default = 0 if is_self and grid.first_patch else len(queries.labels) // 2 if is_self else 0
    kept = finding.kept(trace)[0]
    at = None if kept is None or kept >= len(trace.axis_tokens(site)[0]) else queries.index_of(kept)
    query = default if at is None else at
    if not attention.is_long(trace, site):
        values = attention.opened_layer(trace, reader, site, common.layer, view).values[head]
    elif is_self:
        values = attention.long_row(trace, reader, site, common.layer, head, query, view)
    else:
        source = attention.long_head(trace, reader, site, common.layer, head, view).source
        values = source.pooled(slice(0, None), slice(0, None), (1, 1))
    return PictureData(
        picture=picture,
        values=values,
        tokens=keys.labels,
        row_tokens=queries.labels,
        rows=grouped(attention.focus_axes(trace, site)[0], queries.groups),
        rows_write=trace.rows_write(site),
        is_self=is_self,
        shows_special=common.sinks,
        number=shown(measure.number),
        title=head_label(common.layer, head if measure.is_per_head else None),
        query=query,
        file_name=file_name("picture", head_name(site, common.layer, head), sentence=trace.text),
        area=selection.attention.area or None,
    )


def view_of(site: str) -> MatrixView:
    """The rows and columns over a picture: patches are neither joined to words nor left out, words are as chosen."""
    common = state.current().common
    return MatrixView(common.measure, whole_words=common.whole_words and site == CROSS, sinks=True)


def _choose(trace: "Trace", site: str, row: int) -> None:
    """Keep a row."""
    state.change(token=_position(trace, site, row), head_chosen=True, from_words=(), to_words=())


def _ask(trace: "Trace", site: str, row: int, area: PictureArea) -> None:
    """Keep a rectangle, and the row that is drawn: heads are ranked by what that gives to it."""
    state.change(token=_position(trace, site, row), head_chosen=True, from_words=(), to_words=(), area=area.corners)


def _position(trace: "Trace", site: str, row: int) -> int:
    """The first token of a row."""
    queries, _keys = attention.shown_axes(trace, site, view_of(site))
    return queries.groups[row][0]


def picture_attention(
    data: PictureData, *, on_query: Callable[[int], object], on_area: Callable[[PictureArea], object], key: str
) -> None:
    """Show a picture with the row of a query over it; `on_query` is called with the row that a person chooses,
    `on_area` with the rectangle that they draw.
    """
    height, width, _channels = data.picture.pixels.shape
    _COMPONENT.show(
        data,
        key=key,
        query=hear(on_query, int, query=range(len(data.row_tokens))),
        area=hear(
            on_area, PictureArea, left=range(width), right=range(width + 1), top=range(height), bottom=range(height + 1)
        ),
    )
