"""Show every head of every layer at a glance: one canvas of tiles, one tile a head; a click opens a head.

Tells `head_grid.js` which tiles (`components.tiles.store`) are drawn where and with which number under each, and reads
back which head a person opened.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated

import numpy as np
from jaxtyping import Float

from viz import theme
from viz.pictures.component import Component
from viz.pictures.focus import Roles
from viz.pictures.payload import LOCAL, Text, hear
from viz.text.messages import shown
from viz.text.written import decimal

COMPONENT = Component("pictures/head_grid/head_grid.js", "pictures/head_grid/head_grid.css")


@dataclass(frozen=True)
class HeadChoice:
    """The head a person opened, by click or keyboard. Both count from 0."""

    layer: int
    head: int


def _pair(choice: HeadChoice | None) -> list[int] | None:
    return None if choice is None else [choice.layer, choice.head]


#: A head, packed as layer and head.
Pair = Annotated[HeadChoice | None, _pair]


@dataclass(frozen=True, eq=False)
class TileMetric:
    """A number under every tile, with a bar whose full length is the highest of all heads."""

    name: Text
    values: Annotated[Float[np.ndarray, "layer head"], LOCAL]  #: the numbers; NaN where a head has none
    decimals: Annotated[int, LOCAL]  #: how many of them are shown
    unit: Text  #: what is read aloud after a number, with the name before it
    note: Annotated[str, LOCAL]  #: what the number means, shown below the grid

    def texts(self) -> list[str]:
        """The numbers as they are shown, layer by layer."""
        return ["–" if np.isnan(value) else decimal(value, self.decimals) for value in self.values.flat]

    def bars(self) -> list[float]:
        """Parts of the highest number, from 0 to 1."""
        known = np.nan_to_num(self.values)
        return [round(float(value), 3) for value in (known / max(float(known.max()), 1e-9)).flat]

    def derived(self) -> dict[str, object]:
        """The numbers as they are drawn."""
        return {"texts": self.texts(), "bars": self.bars()}


@dataclass(frozen=True)
class TileJobs:
    """What heads are for, layer by layer: a sign under the tile, on hover all of it; "" for a head without a job."""

    signs: tuple[str, ...]  #: under the tile
    colours: tuple[str, ...]  #: of the signs
    said: tuple[Text, ...]  #: the job with its number, as in the title of the open head
    intervals: tuple[str, ...]  #: of that number, as it is said behind it


@dataclass(frozen=True)
class Ranking:
    """Heads in an order of their own instead of layer by layer; perhaps not all of them."""

    heads: tuple[HeadChoice, ...]  #: those shown, from the first to the last
    note: str  #: what the order is, shown below the grid


@dataclass(frozen=True)
class Followed:
    """A switch of the page whose choices the grid draws at once, from tiles that wait in the browser."""

    control: str  #: the key of the widget
    addresses: tuple[str, ...]  #: the tiles of each of its choices, in order
    jobs: tuple[TileJobs | None, ...]  #: what their heads are for


@dataclass(frozen=True, eq=False, kw_only=True)
class Grid:
    """All heads of an attention, layer by layer or as ranked."""

    address: str  #: under which `tiles.store.send_tiles` sends, or has sent, the tiles
    shape: Annotated[tuple[int, int], LOCAL]  #: how many layers, and heads in each
    selected: Pair = None  #: the head to mark as open
    metric: TileMetric | None = None  #: the number under each tile
    #: the queries that are drawn over the picture that was read, in place of matrices, where the tiles come with one.
    kept: tuple[int, ...] = ()
    framed: tuple[int, ...] = ()  #: the heads that are framed, each with its rank, counted layer by layer
    ranking: Annotated[Ranking | None, LOCAL] = None  #: another order than layer by layer
    followed: Followed | None = None  #: a switch between tiles that the grid need not wait for Python to obey
    jobs: TileJobs | None = None  #: what heads are for
    name: str = "heads"  #: of the files in which a person saves the picture, without their ending
    caption: Text = ""  #: what is shown, in a saved picture, where no page says it
    is_mean: bool = False  #: whether the one tile of a layer is all its heads together
    roles: Roles = ()  #: runs of tokens that are of one role of a chat, whose queries and keys are the same tokens
    asks: str = ""  #: the attention, where *Why?* is offered of its cells; "" where it is not
    stops: Sequence[str] = theme.SEQUENTIAL
    ticks: Sequence[float] = theme.SQRT_TICKS

    def __post_init__(self) -> None:
        assert self.metric is None or self.metric.values.shape == self.shape, "one metric for each head"
        assert self.jobs is None or len(self.jobs.signs) == prod(self.shape), "one job, or none, for each head"

    def derived(self) -> dict[str, object]:
        """The heads in the order of the ranking, counted layer by layer; what stands below the grid."""
        ranking, heads = self.ranking, self.shape[1]
        return {
            "ranked": None if ranking is None else [choice.layer * heads + choice.head for choice in ranking.heads],
            "notes": [shown(part.note) for part in (self.metric, ranking) if part is not None],
        }


def head_grid(grid: Grid, *, on_open: Callable[[HeadChoice], object], key: str) -> None:
    """Show all heads as soon as their tiles are in the browser."""
    COMPONENT.show(grid, key=key, head=hear_head(on_open, grid.shape))


def hear_head(on_open: Callable[[HeadChoice], object], shape: tuple[int, int]) -> Callable[[object], None]:
    """Call `on_open` with the head that a browser names, of so many layers and heads."""
    layers, heads = shape
    return hear(on_open, HeadChoice, layer=range(layers), head=range(heads))
