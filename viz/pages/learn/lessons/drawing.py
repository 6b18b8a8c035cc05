"""Draw the picture of a step, whichever kind it is."""

from dataclasses import replace

import streamlit as st

from viz.access import attention, models
from viz.components.head_grid.component import HeadChoice, head_grid
from viz.components.matrix_picture.component import Kept, MatrixData, matrix_picture
from viz.components.tiles.store import send_tiles
from viz.core.file_names import file_name
from viz.core.html import table
from viz.core.messages import shown
from viz.pages.learn.lessons import figures
from viz.pages.learn.lessons.pictures import Bars, Curves, Heads, Picture, Rows
from viz.selection.model_choice import ModelChoice
from viz.ui import frame


def draw(picture: Picture, choice: ModelChoice, *, key: str, name: str, alt: str) -> None:
    """Draw a picture.

    Args:
        picture: what is drawn.
        choice: the model that lessons run on.
        key: of the widget.
        name: of saved files.
        alt: what the picture shows, for those who hear it.
    """
    match picture:
        case Bars():
            frame.chart(figures.bars(picture), key, file_name(name), alt)
        case Curves():
            frame.chart(figures.curves(picture), key, file_name(name), alt)
        case Rows():
            with st.container(key=key):
                st.html(table(picture.columns, picture.rows, label=alt))
        case Heads():
            _heads(picture, choice, key)
        case MatrixData():
            matrix_picture(_spoken(picture), Kept(), on_keep=lambda kept: None, key=key)


def _spoken(matrix: MatrixData) -> MatrixData:
    """A matrix with all that is said of it in the language of the page run; tokens stay as they are."""
    marks = tuple((position, shown(mark)) for position, mark in matrix.scale.marks)
    return replace(
        matrix,
        scale=replace(matrix.scale, number=shown(matrix.scale.number), marks=marks),
        title=shown(matrix.title),
        label=shown(matrix.label),
        caption=shown(matrix.caption),
        row_name=shown(matrix.row_name),
        column_name=shown(matrix.column_name),
    )


def _heads(picture: Heads, choice: ModelChoice, key: str) -> None:
    trace, site = picture.trace, picture.site
    tiles = attention.head_tiles(trace, models.reader(choice), site).tiles
    address = attention.tiles_key(trace, site)
    send_tiles(tiles, trace.row_names(site), trace.axis_tokens(site)[1], address=address, key=f"{key}-tiles")
    head_grid(
        address,
        trace.shapes[site],
        selected=None if picture.selected is None else HeadChoice(*picture.selected),
        on_open=lambda opened: None,
        key=key,
        name=file_name(site, "all heads", sentence=trace.text),
    )
