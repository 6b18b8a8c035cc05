"""Say where a figure shows heads and words, so that what a person points at is marked there, and told to the page.

The figure carries them as `layout.meta`; `viz/pictures/head_tools/chart_spots.js` reads it. Places are in the linear
coordinates of its axes: of a category its number, of a logarithmic axis the logarithm.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from numpy import ndindex

from viz.pictures.focus import Place
from viz.pictures.payload import encoded

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: Site, layer and head.
Head = tuple[str, int, int]
#: Left, right, and both ends along the other axis.
Box = tuple[float, float, float, float]


def cell(row: int, column: int) -> Box:
    """A cell of a matrix."""
    return column - 0.5, column + 0.5, row - 0.5, row + 0.5


def row_of(row: int, columns: int) -> Box:
    """A whole row of a matrix with so many columns."""
    return -0.5, columns - 0.5, row - 0.5, row + 0.5


def column_of(column: int, rows: int) -> Box:
    """A whole column of a matrix with so many rows."""
    return column - 0.5, column + 0.5, -0.5, rows - 0.5


def head_cells(site: str, shape: tuple[int, ...]) -> Iterator[tuple[Head, Box]]:
    """Every head of a site in a map with a row a layer."""
    return (((site, layer, head), cell(layer, head)) for layer, head in ndindex(*shape))


def show(
    figure: "go.Figure",
    *,
    heads: Iterable[tuple[Head, Box]] = (),
    words: Iterable[tuple[Sequence[Place], Box]] = (),
    query: Place | None = None,
) -> None:
    """Let a figure say what it shows.

    Args:
        figure: it is given its `meta`.
        heads: each with where it is.
        words: keys, each by all places that it stands for, the first its own.
        query: from which the weights of the figure go to the words.
    """
    meta = {
        "heads": [[*head, *box] for head, box in heads],
        "words": [[[*map(encoded, places)], *box] for places, box in words],
        "query": None if query is None else encoded(query),
    }
    figure.update_layout(meta=meta)
