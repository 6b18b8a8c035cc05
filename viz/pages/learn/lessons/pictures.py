"""What a view of a lesson is: a picture to be drawn, what it has found, and the page that shows all of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from viz.pages.learn.lessons.lesson import Found
from viz.pictures.matrix_picture.component import MatrixData
from viz.selection.pages import Section
from viz.text.html import Column, Marked

if TYPE_CHECKING:
    from model import Trace


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Bars:
    """Named numbers, one bar each, for one thing or several beside each other.

    Attributes:
        labels: one a bar, top to bottom; of tokens, as `token_text.display_tokens` shows them.
        series: name → numbers; the name of the only one is not shown.
        number: what one number is called.
        top: where the axis ends; None where the longest bar does.
        marked: the bar that stands out; None for none.
        digits: how many decimals are written at a bar.
        spread: how far each number of the only series goes to either side, NaN where nobody knows; None for none.
    """

    labels: Sequence[str]
    series: Mapping[str, Float[np.ndarray, "bar"]]
    number: str
    top: float | None = None
    marked: int | None = None
    digits: int = 2
    spread: Float[np.ndarray, "bar"] | None = None


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Curves:
    """Lines over one axis, and single points.

    Attributes:
        x: where the lines are computed.
        lines: name → height at each x.
        points: name → (x, y) of points that are no line.
        x_name, y_name: of the axes.
        upright: where a dotted line stands; None for none.
        log_x, log_y: whether an axis is logarithmic.
    """

    x: Float[np.ndarray, "x"]
    lines: Mapping[str, Float[np.ndarray, "x"]]
    points: Mapping[str, tuple[Float[np.ndarray, "point"], Float[np.ndarray, "point"]]] = field(default_factory=dict)
    x_name: str
    y_name: str
    upright: float | None = None
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """A small table of texts.

    Attributes:
        columns: their titles, and whether they hold numbers.
        rows: one text for each column; token text as it is.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | Marked, ...], ...]


@dataclass(frozen=True, eq=False, slots=True)
class Heads:
    """Every head of one attention as tiles.

    Attributes:
        trace: whose.
        site: which attention.
        selected: layer and head of the tile that is framed; None for none.
    """

    trace: "Trace"
    site: str
    selected: tuple[int, int] | None = None


Picture = Bars | Curves | Rows | Heads | MatrixData


@dataclass(frozen=True, slots=True)
class FullPage:
    """The page that shows all of a view, and what is chosen there."""

    page: Section
    choices: Mapping[str, object] = field(default_factory=dict)

    def on(self, page: Section, **choices: object) -> "FullPage":
        """Another page with these choices beside the same."""
        return FullPage(page, {**self.choices, **choices})


@dataclass(frozen=True, eq=False, slots=True)
class View:
    """What the picture of a step is made of.

    Attributes:
        picture: what is drawn.
        found: numbers and words, for texts, answers and claims.
        caption: how the picture is read.
        full: the page that shows all of it.
    """

    picture: Picture
    found: Found
    caption: str
    full: FullPage
