"""Pictures of heads and tokens: a heatmap, a map of heads, rows of heads, two texts compared, attribution."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy.typing import NDArray

from viz import theme
from viz.pictures.figures import charts
from viz.pictures.figures.charts import LEGEND, column_axis, full_axis, row_axis, token_labels, whole_numbers
from viz.pictures.figures.traces import line
from viz.text.messages import _, said, shown
from viz.text.written import decimal, head_label, head_numbers, layer_labels, signed
from viz.theme import ORANGE

if TYPE_CHECKING:
    from model.analysis.attribution.methods import Method
    from viz.access.attribution import Explained

#: Beyond this many cells along a side the gaps between them would eat the picture.
MAX_CELLS_WITH_GAPS: Final = 40
#: Rows get this many pixels, within the bounds of a screen.
ROW_HEIGHT, MAX_HEIGHT = 25, 720
#: Beside fewer rows than these the labels of a colour bar would overlap.
LEAST_ROWS: Final = 5


@dataclass(frozen=True, slots=True)
class Scale:
    """How a number becomes a colour: `low` to `high` along `stops`, with a colour bar labelled at `ticks`."""

    title: str
    stops: tuple[str, ...]
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]


def root_scale(title: str, top: float) -> Scale:
    """A scale from 0 to `top` for colours at the square root of value / top; the bar is labelled with values."""
    ticks = tuple((tick**0.5, f"{tick * top:.2g}") for tick in theme.SQRT_TICKS)
    return Scale(title, theme.SEQUENTIAL, 0.0, 1.0, ticks)


#: Attention weights, coloured by their square root; `matrix` is given √w as colours and w as values.
WEIGHT_SCALE: Final = root_scale(said("weight"), 1.0)


def signed_scale(title: str, values: NDArray[np.generic], *, floor: float) -> Scale:
    """A scale around zero that just holds the values, but never less than ± `floor`, so that noise is not blown up."""
    largest = float(np.abs(np.asarray(values, np.float64)).max(initial=0.0))
    bound = max(largest, floor)
    half = bound / 2
    labels = tuple((tick, signed(tick) if tick else "0") for tick in (-bound, -half, 0.0, half, bound))
    return Scale(title, theme.DIVERGING, -bound, bound, labels)


def height_for(rows: int, labels: Sequence[str]) -> int:
    """Pixels for so many rows and the labels above their columns."""
    above = 30 + 8 * min(14, max((len(label) for label in labels), default=0))
    return min(MAX_HEIGHT, max(rows, LEAST_ROWS) * ROW_HEIGHT + above)


def matrix(
    values: NDArray[np.generic],
    colours: NDArray[np.generic],
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    *,
    scale: Scale,
    hover: str,
) -> go.Figure:
    """A heatmap `[row, column]` of `colours`; the hover shows `values` as `%{customdata}`.

    Labels, top to bottom and left to right, are safe for plotly (`axes.token_labels`); `%{y}` and `%{x}` on hover.
    """
    rows, columns = values.shape
    assert (len(row_labels), len(column_labels)) == (rows, columns), "one label for each row and each column"
    gap = 1 if max(rows, columns) <= MAX_CELLS_WITH_GAPS else 0
    heatmap = go.Heatmap(
        z=colours,
        customdata=values,
        zmin=scale.low,
        zmax=scale.high,
        colorscale=theme.colorscale(scale.stops),
        colorbar=theme.colour_bar(shown(scale.title), scale.ticks),
        xgap=gap,
        ygap=gap,
        xaxis="x2",
        yaxis="y2",
        hovertemplate=hover + "<extra></extra>",
    )
    axes: dict[str, object] = {
        "xaxis": column_axis(column_labels) | {"side": "top"},
        "yaxis": row_axis(row_labels),
        "xaxis2": full_axis(column_labels, shares="x"),
        "yaxis2": full_axis(row_labels, shares="y"),
    }
    # An axis without a trace is not drawn; the labels that are read need one, be it empty.
    for_labels = go.Scatter(x=[None], y=[None], hoverinfo="skip")
    if gap and scale.stops == theme.DIVERGING:
        # Zero is as dark as a dark page: the gaps between cells show where they are.
        axes["plot_bgcolor"] = theme.BETWEEN_CELLS
    # In one piece: plotly takes several times as long to add to a figure that it has made.
    return go.Figure([heatmap, for_labels], theme.figure_layout(height_for(rows, column_labels)) | axes)


def head_rows(
    rows: Float[np.ndarray, "head key"],
    key_tokens: Sequence[str],
    *,
    number: str,
    top: float,
    names: Sequence[str],
    marked: int | None,
) -> go.Figure:
    """One query token's row in every head of a layer: a head a row, by these names; the marked one is framed.

    `rows`: none below 0 or above `top`, the number that is lightest; one is called `number`.
    """
    figure = matrix(
        rows,
        np.sqrt(rows / np.float32(top)),
        names,
        token_labels(key_tokens),
        scale=root_scale(number, top),
        hover=_looks_at(number),
    )
    if marked is not None:
        frame_cells(figure, (marked, marked), (0, len(key_tokens) - 1), {"color": ORANGE, "width": 2})
    return figure


def _looks_at(number: str) -> str:
    """What stands on hover: the query, the key, and the number that is called so."""
    message = "<b>{query}</b> attends to <b>{key}</b><br>{number} {value}"
    return _(message, query="%{y}", key="%{x}", number=number, value="%{customdata:.4f}")


def short_names(layers: int, heads: int, *, averaged: bool = False) -> list[str]:
    """Every head as "L3 H2", in the order of a table [layer, head]; where heads are averaged, "L3, all heads"."""
    return [head_label(layer, None if averaged else head) for layer, head in np.ndindex(layers, heads)]


def head_map(
    values: Float[np.ndarray, "layer head"],
    *,
    title: str,
    centre: float,
    floor: float,
    number: str = ".3f",
    averaged: bool = False,
    marked: tuple[int, int] | None = None,
    site: str = "",
) -> go.Figure:
    """A site's heads, a row a layer: warm above the centre, cold below it, NaN where a head has none.

    The scale reaches at least `floor` from the centre. One column may be the mean of heads (`averaged`). `marked` is
    framed; `site` is whose heads they are, to whoever points at one; "" where they are of no model that is open.
    """
    layers, heads = values.shape
    deviations = np.abs(values - centre)
    bound = max(floor, float(np.nanmax(deviations)) if not np.isnan(deviations).all() else 0.0)
    sign, decimals = "+" if centre == 0 else "", 2 if bound >= 0.05 else 3
    written = signed if sign else decimal
    levels = [centre + bound * k / 2 for k in (-2, -1, 0, 1, 2)]
    ticks = tuple((level, written(level, decimals)) for level in levels)
    columns = [_("all heads")] if averaged else head_numbers(heads)
    figure = matrix(
        values,
        values,
        layer_labels(layers),
        columns,
        scale=Scale(title, theme.DIVERGING, centre - bound, centre + bound, ticks),
        hover=f"<b>%{{y}} %{{x}}</b><br>{shown(title)} %{{customdata:{sign}{number}}}",
    )
    if marked is not None:
        layer, head = marked
        frame_cells(figure, (layer, layer), (head, head), {"color": theme.GREEN, "width": 3})
    if site and not averaged:
        charts.spots(figure, heads=charts.head_cells(site, values.shape))
    # A colour bar with five labels needs some height, however few layers there are.
    figure.update_layout(height=max(190, layers * 30 + 40), xaxis={"tickangle": 0})
    return figure


def frame_cells(
    figure: go.Figure, rows: tuple[int, int], columns: tuple[int, int], line: Mapping[str, str | int]
) -> None:
    """Frame the cells from a first row and column to a last one, with a line as plotly describes it."""
    box = {"x0": columns[0] - 0.5, "x1": columns[1] + 0.5, "y0": rows[0] - 0.5, "y1": rows[1] + 0.5}
    figure.add_shape(type="rect", line=line, **box)


#: Differences smaller than this everywhere are drawn as the small differences they are.
DIFFERENCE_FLOOR = 0.1


@dataclass(frozen=True, slots=True)
class Alignment:
    """Positions that hold the same token in both sequences, in reading order, and what is left over on each side."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    only_first: tuple[int, ...]
    only_second: tuple[int, ...]


def align(first: Sequence[str], second: Sequence[str]) -> Alignment:
    """Match equal tokens by difflib's longest common blocks. A token that differs is in no pair."""
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    pairs = [(block.a + i, block.b + i) for block in blocks for i in range(block.size)]
    in_first, in_second = {a for a, _ in pairs}, {b for _, b in pairs}
    return Alignment(
        first=tuple(a for a, _ in pairs),
        second=tuple(b for _, b in pairs),
        only_first=tuple(i for i in range(len(first)) if i not in in_first),
        only_second=tuple(i for i in range(len(second)) if i not in in_second),
    )


def row_difference(
    first: Float[np.ndarray, "head key_1"], second: Float[np.ndarray, "head key_2"], alignment: Alignment
) -> Float[np.ndarray, "head pair"]:
    """Second minus first, for the keys that both sentences have."""
    difference: np.ndarray = second[:, list(alignment.second)] - first[:, list(alignment.first)]
    return difference


def difference_heatmap(
    difference: Float[np.ndarray, "head pair"], tokens: Sequence[str], names: Sequence[str], *, bound: float
) -> go.Figure:
    """Per head and shared token: warm where the second sentence gives it more weight, cold where the first does.

    The colours reach at least to ± `bound`.
    """
    message = "<b>{head}</b>, key <b>{key}</b><br>second − first {difference}"
    return matrix(
        difference,
        difference,
        names,
        token_labels(tokens),
        scale=signed_scale(_("second − first"), difference, floor=bound),
        hover=_(message, head="%{y}", key="%{x}", difference="%{customdata:+.4f}"),
    )


HEIGHT: Final = 360
#: Each row has a scale of its own, for methods have units of their own.
_SCALE: Final = Scale(
    said("relative to the row's maximum"),
    theme.DIVERGING,
    -1.0,
    1.0,
    ((-1.0, "−1"), (-0.5, "−½"), (0.0, "0"), (0.5, "½"), (1.0, "1")),
)


def word_map(explained: "Explained", names: "Mapping[Method, str]") -> go.Figure:
    """A column a word, a row for each hidden alone and for each method; warm where it speaks for the choice."""
    values = np.stack([explained.alone.losses, *explained.scores.values()])
    largest = np.abs(values).max(1, keepdims=True)
    colours = values / np.where(largest > 0, largest, 1)
    hover = "<b>%{x}</b><br>%{y}: %{customdata:.4f}"
    rows = [_("Hidden alone"), *(names[method] for method in explained.scores)]
    scale = replace(_SCALE, title=_(_SCALE.title))
    columns = list(explained.words) if explained.of_spans else token_labels(explained.words)
    return matrix(values, colours, rows, columns, scale=scale, hover=hover)


def deletion_lines(explained: "Explained", names: "Mapping[Method, str]", choice: str) -> go.Figure:
    """The choice over the number of words hidden: a line a method, and the range of random orders."""
    random = np.stack([drawn.values for drawn in explained.random])
    hidden = list(range(random.shape[1]))
    around = [*random.max(0), *random.min(0)[::-1]]
    there_and_back, shade = [*hidden, *reversed(hidden)], f"{theme.GREY}2e"
    band = line(there_and_back, around, theme.GREY, width=0, fill="toself", fillcolor=shade, showlegend=False)
    mean = _hiding(random.mean(0), _("random orders, mean"), theme.GREY, width=2, dash="dot")
    lines = [
        _hiding(deletion.values, names[method], colour, width=3.5 if method == explained.best else 1.75)
        for colour, (method, deletion) in zip(theme.HEAD_COLOURS, explained.deletions.items(), strict=False)
    ]
    axes = {
        "xaxis": {"title": {"text": _("number of words hidden")}, "zeroline": False, "showgrid": False}
        | whole_numbers(hidden[-1]),
        "yaxis": {"title": {"text": choice}},
        "showlegend": True,
        "legend": LEGEND,
    }
    return go.Figure([band, mean, *lines], theme.figure_layout(HEIGHT) | axes)


def _hiding(values: Float[np.ndarray, "hidden"], name: str, colour: str, **look: Any) -> go.Scatter:
    hover = _("{method}<br>{count} words hidden: {value} nats", method=name, count="%{x}", value="%{y:.2f}")
    return line(list(range(len(values))), values, colour, hover, name=name, **look)
