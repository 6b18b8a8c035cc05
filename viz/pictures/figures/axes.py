"""Make axes whose ticks are tokens.

Positions are numbers and tokens are tick labels, so a piece that occurs twice has two ticks. A tick label is also what
plotly shows on hover for `%{x}` and `%{y}`; the data are therefore plotted on an axis with a label for every token
(`full_axis`). That axis is not drawn; it overlays the one that is read (`row_axis`, `column_axis`), where a long
sentence shows only every second, third … label.
"""

from collections.abc import Sequence
from html import escape
from typing import Final, Literal

from viz.text.token_text import display_token
from viz.theme import CHART_TEXT, PlotlySpec

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


def row_axis(labels: Sequence[str]) -> PlotlySpec:
    """The axis that is read down the left side, first label on top; thinned out above `MAX_ROW_LABELS`."""
    return _thinned(labels, MAX_ROW_LABELS) | {"range": [len(labels) - 0.5, -0.5], "ticklabelstandoff": 4}


def column_axis(labels: Sequence[str]) -> PlotlySpec:
    """The axis that is read from left to right, its labels upright; thinned out above `MAX_COLUMN_LABELS`."""
    # Slanted ones would lean over the columns beside their own.
    return _thinned(labels, MAX_COLUMN_LABELS) | {"range": [-0.5, len(labels) - 0.5], "tickangle": -90}


def full_axis(labels: Sequence[str], *, shares: Literal["x", "y"]) -> PlotlySpec:
    """The axis of the data: every position has its label for the hover, none is drawn.

    Args:
        labels: one a position.
        shares: the axis that is read, which this one overlays and zooms with.
    """
    return _axis(range(len(labels)), labels) | {"overlaying": shares, "matches": shares, "showticklabels": False}


def _thinned(labels: Sequence[str], limit: int) -> PlotlySpec:
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
