"""Show every head of every layer at a glance: one canvas of tiles, one tile a head; a click opens a head.

Tells `head_grid.js` which tiles (`components.tiles.store`) are drawn where and with which number under each, and reads
back which head a person opened.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod

import numpy as np
from jaxtyping import Float

from viz.components.declare import declare
from viz.core import chat_roles, payload
from viz.core.messages import shown
from viz.core.theme import SEQUENTIAL, SQRT_TICKS
from viz.core.widget_values import sent

_COMPONENT = declare("components/head_grid/head_grid.js", "components/head_grid/head_grid.css")


@dataclass(frozen=True)
class HeadChoice:
    """The head a person opened, by click or keyboard. Both count from 0."""

    layer: int
    head: int


@dataclass(frozen=True, eq=False)
class TileMetric:
    """A number under every tile, with a bar whose full length is the highest of all heads.

    Attributes:
        values: the numbers; NaN where a head has none.
        decimals: how many of them are shown.
        unit: what is read aloud after a number, with the name before it.
        note: what the number means, shown below the grid.
        num_best: so many tiles with the highest numbers are framed, each with its rank.
    """

    name: str
    values: Float[np.ndarray, "layer head"]
    decimals: int
    unit: str
    note: str
    num_best: int = 0

    def texts(self) -> list[str]:
        """The numbers as they are shown, layer by layer."""
        return ["–" if np.isnan(value) else f"{value:.{self.decimals}f}" for value in self.values.flat]

    def bars(self) -> list[float]:
        """Parts of the highest number, from 0 to 1."""
        known = np.nan_to_num(self.values)
        return [round(float(value), 3) for value in (known / max(float(known.max()), 1e-9)).flat]

    def best(self) -> list[int]:
        """The heads that are framed, counted layer by layer, the highest first; none without a number above 0."""
        order = np.argsort(-np.nan_to_num(self.values), axis=None, kind="stable")[: self.num_best]
        return [int(index) for index in order if self.values.flat[index] > 0]


@dataclass(frozen=True)
class TileJobs:
    """What heads are for, layer by layer: a word under the tile, and on hover all of it; "" for a head without a job.

    Attributes:
        short: under the tile.
        said: the job with its number, as in the title of the open head.
        intervals: of that number, as it is said behind it.
    """

    short: tuple[str, ...]
    said: tuple[str, ...]
    intervals: tuple[str, ...]


@dataclass(frozen=True)
class Ranking:
    """Heads in an order of their own instead of layer by layer; perhaps not all of them.

    Attributes:
        heads: those shown, from the first to the last.
        note: what the order is, shown below the grid.
    """

    heads: tuple[HeadChoice, ...]
    note: str


@dataclass(frozen=True)
class Followed:
    """A switch of the page whose choices the grid draws at once, from tiles that wait in the browser.

    Attributes:
        control: the key of the widget.
        addresses: the tiles of each of its choices, in order.
        jobs: what their heads are for.
    """

    control: str
    addresses: tuple[str, ...]
    jobs: tuple[TileJobs | None, ...]


def pack_grid(
    address: str,
    shape: tuple[int, int],
    selected: HeadChoice | None,
    metric: TileMetric | None,
    ranking: Ranking | None,
    followed: Followed | None,
    name: str = "heads",
    caption: str = "",
    jobs: TileJobs | None = None,
    *,
    is_mean: bool = False,
    roles: Sequence[chat_roles.Run] = (),
) -> bytes:
    """The payload of `head_grid.js`: whose tiles are shown, their colours, and the order of heads."""
    _, heads = shape
    if metric is not None:
        assert metric.values.shape == shape, "one metric for each head"
    assert jobs is None or len(jobs.short) == prod(shape), "one job, or none, for each head"
    header = {
        "address": address,
        "stops": SEQUENTIAL,
        "ticks": SQRT_TICKS,
        "name": name,
        "caption": shown(caption),
        "selected": None if selected is None else [selected.layer, selected.head],
        "ranked": None if ranking is None else [choice.layer * heads + choice.head for choice in ranking.heads],
        "metric": None if metric is None else _described(metric),
        "jobs": None if jobs is None else _said(jobs),
        "isMean": is_mean,
        "roles": chat_roles.packed(roles),
        "notes": [shown(part.note) for part in (metric, ranking) if part is not None],
        "followed": None
        if followed is None
        else asdict(followed) | {"jobs": [None if each is None else _said(each) for each in followed.jobs]},
    }
    return payload.pack(header)


def _said(jobs: TileJobs) -> dict[str, list[str]]:
    return {"short": [*map(shown, jobs.short)], "said": [*map(shown, jobs.said)], "intervals": [*jobs.intervals]}


def _described(metric: TileMetric) -> dict[str, object]:
    return {
        "name": shown(metric.name),
        "unit": shown(metric.unit),
        "texts": metric.texts(),
        "bars": metric.bars(),
        "best": metric.best(),
    }


def read_choice(value: object, layers: int, heads: int) -> HeadChoice | None:
    """What the browser sent, if it names a head that exists: it may still speak of the sentence or model before."""
    if not isinstance(value, Mapping):
        return None
    layer, head = value.get("layer"), value.get("head")
    if not (isinstance(layer, int) and isinstance(head, int) and 0 <= layer < layers and 0 <= head < heads):
        return None
    return HeadChoice(layer, head)


def head_grid(
    address: str,
    shape: tuple[int, int],
    *,
    selected: HeadChoice | None,
    metric: TileMetric | None = None,
    ranking: Ranking | None = None,
    followed: Followed | None = None,
    jobs: TileJobs | None = None,
    on_open: Callable[[HeadChoice], None],
    key: str,
    name: str = "heads",
    caption: str = "",
    is_mean: bool = False,
    roles: Sequence[chat_roles.Run] = (),
) -> None:
    """Show all heads, layer by layer or as ranked, as soon as their tiles are in the browser.

    Args:
        address: under which `tile_store.send_tiles` sends, or has sent, the tiles.
        shape: how many layers, and heads in each.
        selected: the head to mark as open.
        metric: the number under each tile.
        ranking: another order than layer by layer.
        followed: a switch between tiles that the grid need not wait for Python to obey.
        jobs: what heads are for.
        on_open: called before the next run, with the head that a person has opened.
        key: of the component.
        name: of the files in which a person saves the picture, without their ending.
        caption: what is shown, in a saved picture, where no page says it.
        is_mean: whether the one tile of a layer is all its heads together.
        roles: runs of tokens that are of one role of a chat, whose queries and keys are the same tokens.
    """

    def take() -> None:
        choice = read_choice(sent(key, "head"), *shape)
        if choice is not None:
            on_open(choice)

    what = address, shape, selected, metric, ranking, followed, name, caption, jobs
    packed = pack_grid(*what, is_mean=is_mean, roles=roles)
    _COMPONENT(data=packed, key=key, on_head_change=take)
