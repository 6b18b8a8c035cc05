"""Draw the picture of a step, whichever kind it is."""

import streamlit as st

from viz.access import attention, models
from viz.pages.learn.lessons import figures
from viz.pages.learn.lessons.pictures import Bars, Curves, Heads, Picture, Rows
from viz.pictures.component import ignore
from viz.pictures.head_grid.component import Grid, HeadChoice, head_grid
from viz.pictures.matrix_picture.component import Kept, MatrixData, matrix_picture
from viz.pictures.tiles.store import Frame, send_tiles
from viz.selection.model_choice import ModelChoice
from viz.text.html import table
from viz.text.sites import file_name
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
            matrix_picture(picture, Kept(), on_keep=ignore, key=key)


def _heads(picture: Heads, choice: ModelChoice, key: str) -> None:
    trace, site = picture.trace, picture.site
    tiles = attention.head_tiles(trace, models.reader(choice), site).tiles
    address = attention.tiles_key(trace, site)
    rows, columns = trace.row_names(site), trace.axis_tokens(site)[1]
    send_tiles(
        tiles,
        Frame(spec=tiles.spec, query_tokens=rows, key_tokens=columns, address=address),
        key=f"{key}-tiles",
    )
    grid = Grid(
        address=address,
        shape=trace.shapes[site],
        selected=None if picture.selected is None else HeadChoice(*picture.selected),
        name=file_name(site, "all heads", sentence=trace.text),
    )
    head_grid(grid, on_open=ignore, key=key)
