"""What a view of a lesson is: a picture, what it has found, and its full page; bars and curves as charts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.pages.learn.lessons.lesson import Found
from viz.pictures.component import Component
from viz.pictures.figures.charts import axis, legend_below_buttons, upright
from viz.pictures.figures.traces import dots, line
from viz.pictures.matrix_picture.component import MatrixData
from viz.pictures.payload import Text, Tokens, digest
from viz.selection.selection import Section
from viz.text.html import Column, Marked
from viz.text.messages import shown

if TYPE_CHECKING:
    from model import Trace


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Bars:
    """Named numbers, one bar each, for one thing or several beside each other."""

    labels: Sequence[str]  #: one a bar, top to bottom; of tokens, as `token_text.display_tokens` shows them
    series: Mapping[str, Float[np.ndarray, "bar"]]  #: name → numbers; the name of the only one is not shown
    number: str  #: what one number is called
    top: float | None = None  #: where the axis ends; None where the longest bar does
    marked: int | None = None  #: the bar that stands out; None for none
    digits: int = 2  #: how many decimals are written at a bar
    #: how far each number of the only series goes to either side, NaN where nobody knows; None for none.
    spread: Float[np.ndarray, "bar"] | None = None


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Curves:
    """Lines over one axis, and single points."""

    x: Float[np.ndarray, "x"]  #: where the lines are computed
    lines: Mapping[str, Float[np.ndarray, "x"]]  #: name → height at each x
    #: name → (x, y) of points that are no line.
    points: Mapping[str, tuple[Float[np.ndarray, "point"], Float[np.ndarray, "point"]]] = field(default_factory=dict)
    #: x_name, y_name: of the axes.
    x_name: str
    y_name: str
    upright: float | None = None  #: where a dotted line stands; None for none
    #: log_x, log_y: whether an axis is logarithmic.
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """A small table of texts."""

    columns: tuple[Column, ...]  #: their titles, and whether they hold numbers
    rows: tuple[tuple[str | Marked, ...], ...]  #: one text for each column; token text as it is


@dataclass(frozen=True, eq=False, slots=True)
class Heads:
    """Every head of one attention as tiles."""

    trace: "Trace"  #: whose
    site: str  #: which attention
    selected: tuple[int, int] | None = None  #: layer and head of the tile that is framed; None for none


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRow:
    """Scores that a person drags, a number that divides them all, and the softmax of the quotients, in the browser."""

    labels: Tokens  #: one for each score
    scores: Sequence[float]  #: as the model has them, before they are divided
    divisor: float  #: what the model divides them by
    #: least, most: between which it can be moved.
    least: float
    most: float
    #: score_name, divisor_name, share_name: what these numbers are called.
    score_name: Text
    divisor_name: Text
    share_name: Text
    label: Text  #: what the row is, for those who hear it


_LIVE_ROW: Final = Component("pages/learn/lessons/live_row.js", "pages/learn/lessons/live_row.css")


def live_row(row: LiveRow, *, key: str) -> None:
    """Show the row."""
    _LIVE_ROW.show(row, key=key, more={"digest": digest(row)})


Picture = Bars | Curves | Rows | Heads | LiveRow | MatrixData
#: Of a view that computes something and draws nothing.
NO_PICTURE: Final = Rows((), ())


@dataclass(frozen=True, slots=True)
class FullPage:
    """The page that shows all of a view, and what is chosen there."""

    page: Section
    choices: Mapping[str, object] = field(default_factory=dict)
    topic: str = ""  #: the topic of Explore that shows it, on the page Learn; "" for another page

    def on(self, page: Section, **choices: object) -> "FullPage":
        """Another page with these choices beside the same."""
        return FullPage(page, {**self.choices, **choices})


@dataclass(frozen=True, eq=False, slots=True)
class View:
    """What the picture of a step is made of."""

    picture: Picture  #: what is drawn
    found: Found  #: numbers and words, for texts, answers and claims
    caption: str  #: how the picture is read
    full: FullPage  #: the page that shows all of it


#: Pixels of a bar with the room around it, of what lies around all bars, and of a chart of curves.
BAR, AROUND, CURVES = 22, 70, 400
#: Pixels of a bar beside another one for the same thing.
THIN: Final = 14
#: Pixels that a chart has at least.
LEAST = 220
Values = TypeVar("Values")
_PLAIN, MARKED, *_others = theme.HEAD_COLOURS


def bars(picture: Bars) -> go.Figure:
    """Bars from the left, the first at the top, each with its number behind it."""
    labels = [_text(label) for label in picture.labels]
    several = len(picture.series) > 1
    traces: list[go.Bar] = []
    for index, (name, values) in enumerate(_spoken(picture.series).items()):
        colour = theme.HEAD_COLOURS[index]
        colours = [MARKED if row == picture.marked and not several else colour for row in range(len(values))]
        traces.append(
            go.Bar(
                x=values,
                y=list(range(len(values))),
                name=name,
                orientation="h",
                marker={"color": colours},
                text=[_written(value, picture.digits) for value in values],
                textposition="outside",
                constraintext="none",
                cliponaxis=False,
                textfont={"color": theme.CHART_TEXT, "size": 13},
                customdata=labels,
                hovertemplate=f"<b>%{{customdata}}</b><br>{name} %{{x:.4f}}<extra></extra>",
            )
        )
    per_bar = THIN * len(picture.series) if several else BAR
    drawn: list[go.Bar | go.Scatter] = [*traces]
    if picture.spread is not None:
        (bar,) = traces
        drawn = _with_spread(bar, picture.spread, picture.digits)
    height = max(LEAST, AROUND + per_bar * len(labels))
    room = 1.12 if picture.spread is None else 1.3
    top = picture.top or max(1e-9, *(float(values.max()) for values in picture.series.values()))
    low = min(0.0, *(float(values.min()) for values in picture.series.values()))
    figure = go.Figure(drawn, theme.figure_layout(height))
    # Room for the number behind the longest bar.
    # As much room before the bars that lead to the left, whose names are there.
    left = low - (room - 1) * (top - low) if low < 0 else 0.0
    figure.update_xaxes(axis(_text(picture.number)) | {"range": [left, top * room], "showgrid": False})
    ticks = {
        "tickvals": list(range(len(labels))),
        "ticktext": labels,
        "autorange": "reversed",
        "showgrid": False,
        "ticksuffix": " ",
    }
    figure.update_yaxes(axis() | ticks | {"automargin": True})
    figure.update_layout(showlegend=several, barmode="group", bargap=0.2, legend=legend_below_buttons(height))
    return figure


def _written(value: float, digits: int) -> str:
    """The number at a bar; none where it would be written as nothing."""
    text = f"{value:,.{digits}f}"
    return text if any(digit in text for digit in "123456789") else ""


def _with_spread(bar: go.Bar, spread: np.ndarray, digits: int) -> list[go.Bar | go.Scatter]:
    """Return a bar with its error bar, and the number behind it."""
    known, reach = np.isfinite(spread), np.nan_to_num(spread)
    text = [
        f" {value:.{digits}f} ± {off:.{digits}f}" if is_known else f" {value:.{digits}f}"
        for value, off, is_known in zip(bar.x, reach, known, strict=True)
    ]
    error = {"type": "data", "array": reach, "color": theme.GREY, "thickness": 2}
    ends = go.Scatter(
        x=np.asarray(bar.x) + reach, y=bar.y, text=text, mode="text", textposition="middle right",
        textfont=bar.textfont.to_plotly_json(), cliponaxis=False, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    return [go.Bar(bar).update(text=None, error_x=error), ends]


def curves(picture: Curves) -> go.Figure:
    """Lines over one axis, points, and a dotted line upright where one is asked for."""
    x_name = _text(picture.x_name)
    hover, colours = f"<br>{x_name} %{{x:.4g}}<br>%{{y:.4g}}", iter(theme.HEAD_COLOURS)
    traces = [
        line(picture.x, values, next(colours), f"{name}{hover}", name=name)
        for name, values in _spoken(picture.lines).items()
    ]
    traces += [
        dots(x, y, {"color": next(colours), "size": 8}, f"{name}{hover}", name=name)
        for name, (x, y) in _spoken(picture.points).items()
    ]
    figure = go.Figure(traces, theme.figure_layout(CURVES))
    # On a logarithmic axis the numbers themselves say more than powers of ten.
    log: theme.PlotlySpec = {"type": "log", "tickvals": picture.x} if picture.log_x else {}
    figure.update_xaxes(axis(x_name) | log | {"showgrid": False})
    figure.update_yaxes(
        axis(_text(picture.y_name)) | {"exponentformat": "power"} | ({"type": "log"} if picture.log_y else {})
    )
    if picture.upright is not None:
        figure.add_shape(upright(picture.upright))
    figure.update_layout(showlegend=len(traces) > 1, legend=legend_below_buttons(CURVES))
    return figure


def _spoken(named: Mapping[str, Values]) -> dict[str, Values]:
    return {_text(name): values for name, values in named.items()}


def _text(message: str) -> str:
    """A message with a token in it as Plotly's labels show it, which read a small HTML."""
    return escape(shown(message), quote=False)
