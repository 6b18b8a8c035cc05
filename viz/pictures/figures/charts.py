"""What charts share: axes and labels, a legend, headings, notes, dotted lines, and where they show heads and words."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Final, Literal

from numpy import ndindex

from viz import theme
from viz.pictures.focus import Place
from viz.pictures.payload import encoded
from viz.text.written import display_token, row_parts
from viz.theme import CHART_TEXT, PlotlySpec

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: More labels than this cannot be read below one another, or upright beside one another in half a page's width.
MAX_ROW_LABELS, MAX_COLUMN_LABELS = 64, 32
#: So many labels can be large.
MAX_LARGE: Final = 20

#: Of so many whole numbers plotly does not find the ticks by itself.
MAX_ONE_BY_ONE: Final = 8


def whole_numbers(most: int) -> PlotlySpec:
    """The ticks of an axis of whole numbers up to `most`: plotly would divide a short one, and write "1" twice."""
    return {"tickformat": ",d"} | ({"dtick": 1} if most <= MAX_ONE_BY_ONE else {})


def token_labels(tokens: Sequence[str]) -> list[str]:
    """Tokens as plotly must be given them to draw them literally.

    Plotly reads a small HTML (`<br>`, `<b>`, `<a href>`) in every label, and shows entities as what they stand for.
    """
    return [escape(display_token(token), quote=False) for token in tokens]


def row_labels(names: Sequence[str], *, rows_write: bool) -> list[str]:
    """The names of rows for plotly; of a decoder's, what a row stands for is bold (`written.row_parts`)."""
    labels = []
    for name in names:
        before, stands_for, after = (escape(part, quote=False) for part in row_parts(name, writes=rows_write))
        labels.append(f"{before}<b>{stands_for}</b>{after}" if before or after else stands_for)
    return labels


def row_axis(labels: Sequence[str]) -> PlotlySpec:
    """The axis that is read down the left side, first label on top; thinned out above `MAX_ROW_LABELS`."""
    return thinned(labels, MAX_ROW_LABELS) | {"range": [len(labels) - 0.5, -0.5], "ticklabelstandoff": 4}


def column_axis(labels: Sequence[str]) -> PlotlySpec:
    """The axis that is read from left to right, its labels upright; thinned out above `MAX_COLUMN_LABELS`."""
    # Slanted ones would lean over the columns beside their own.
    return thinned(labels, MAX_COLUMN_LABELS) | {"range": [-0.5, len(labels) - 0.5], "tickangle": -90}


def full_axis(labels: Sequence[str], *, shares: Literal["x", "y"]) -> PlotlySpec:
    """The data's axis, which the one that is read overlays and zooms with: labels for the hover, none is drawn."""
    return _axis(range(len(labels)), labels) | {"overlaying": shares, "matches": shares, "showticklabels": False}


def thinned(labels: Sequence[str], limit: int) -> PlotlySpec:
    """An axis with at most so many of its labels, every second, third …"""
    stride = max(1, -(-len(labels) // limit))
    return _axis(range(0, len(labels), stride), labels)


def _axis(positions: range, labels: Sequence[str]) -> PlotlySpec:
    return {
        "tickmode": "array",
        "tickvals": list(positions),
        "ticktext": [labels[i] for i in positions],
        "tickfont": {"size": 13 if len(positions) <= MAX_LARGE else 12, "color": CHART_TEXT},
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "automargin": True,
    }


#: So many of the sizes along an axis are labelled.
_LABELS: Final = 6
#: Room above a chart for its heading.
HEADING: Final = 28
#: The names of lines or bars in a row above the chart.
LEGEND: Final[PlotlySpec] = {
    "orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"color": theme.CHART_TEXT, "size": 13},
}  # fmt: skip
#: Pixels of the buttons of a chart, at its upper edge.
BUTTONS: Final = 26


def legend_below_buttons(height: int) -> PlotlySpec:
    """That row in a chart of this height, placed by the chart: plotly places what is placed by the axes where these
    were before the window became wider.
    """
    return LEGEND | {"yref": "container", "y": 1 - BUTTONS / height, "yanchor": "top"}


def axis(title: str = "") -> PlotlySpec:
    """An axis of numbers, in the ink of charts."""
    font = {"color": theme.CHART_TEXT}
    return {"title": {"text": title, "standoff": 4, "font": font}, "tickfont": font | {"size": 12}, "zeroline": False}


def doubling_axis(title: str, values: Sequence[int]) -> PlotlySpec:
    """A logarithmic axis along numbers that double, some of them labelled, the last among them."""
    stride = -(-len(values) // _LABELS)
    shown = values[(len(values) - 1) % stride :: stride]
    ticks = {"tickvals": list(shown), "ticktext": [f"{value:,}" for value in shown]}
    return axis(title) | ticks | {"type": "log", "showgrid": False, "tickangle": 0}


def powers_axis() -> PlotlySpec:
    """A logarithmic axis labelled at powers of ten."""
    return axis() | {"type": "log", "exponentformat": "power", "dtick": 1}


def headed(height: int, heading: str) -> PlotlySpec:
    """The layout of a chart with a heading above it."""
    layout = theme.figure_layout(height)
    return layout | {"margin": layout["margin"] | {"t": HEADING}, "annotations": [note(heading, 0, 1, "left", 5)]}


def note(text: str, x: float, y: float, side: str, above: int) -> PlotlySpec:
    """A text left or right of a place of the chart (0 to 1 along its sides), so many pixels above; below 0 it hangs."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "x domain",
        "yref": "y domain",
        "xanchor": side,
        "yanchor": "bottom" if above > 0 else "top",
        "align": side,
        "yshift": above,
        "showarrow": False,
        "font": {"color": theme.CHART_TEXT, "size": 13},
    }


def upright(x: float) -> PlotlySpec:
    """A dotted line across a chart, at a value of its x axis."""
    line = {"color": theme.GREY, "width": 1.5, "dash": "dot"}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "y domain", "line": line}


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


def spots(
    figure: "go.Figure",
    *,
    heads: Iterable[tuple[Head, Box]] = (),
    words: Iterable[tuple[Sequence[Place], Box]] = (),
    query: Place | None = None,
) -> None:
    """Tell the browser, by the figure's `meta`, where it shows heads and words (`pointed_heads.js`).

    A word is a key, by all places that it stands for, the first its own; from the query the weights go to the words.
    """
    meta = {
        "heads": [[*head, *box] for head, box in heads],
        "words": [[[*map(encoded, places)], *box] for places, box in words],
        "query": None if query is None else encoded(query),
    }
    figure.update_layout(meta=meta)
