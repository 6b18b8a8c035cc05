"""Every head of every layer at a glance: one canvas of tiles, one tile a head; a click opens a head.

Packs tiles, tokens and what stands under each tile for `head_grid.js`, and reads back which head a person opened. Knows
nothing of traces, sites or pages, nor of what a head's figure means.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.components import wire
from viz.components.head_tiles import FIRST_CELL, FIRST_THOUSANDTH, Tiles
from viz.theme import SEQUENTIAL, SQRT_TICKS

_HTML: Final = """
<div class="head-grid"></div>
"""
_COMPONENT = st.components.v2.component(
    "headlight_head_grid",
    html=_HTML,
    css=wire.sources("picture.css", "save_picture.css", "head_grid.css"),
    js=wire.sources("wire.js", "picture.js", "save_picture.js", "head_grid.js"),
)


@dataclass(frozen=True)
class HeadChoice:
    """The head a person opened, by click or keyboard. Both count from 0."""

    layer: int
    head: int


@dataclass(frozen=True, eq=False)
class TileFigure:
    """A number under every tile, with a bar whose full length is the highest of all heads.

    Attributes:
        values: the numbers; NaN where a head has none.
        decimals: how many of them are shown.
        unit: what is read aloud after a number, with the name before it.
        note: what the number means, shown below the grid.
    """

    name: str
    values: Float[np.ndarray, "layer head"]
    decimals: int
    unit: str
    note: str

    def texts(self) -> list[str]:
        """The numbers as they are shown, layer by layer."""
        return ["–" if np.isnan(value) else f"{value:.{self.decimals}f}" for value in self.values.flat]

    def bars(self) -> list[float]:
        """Parts of the highest number, from 0 to 1."""
        known = np.nan_to_num(self.values)
        return [round(float(value), 3) for value in (known / max(float(known.max()), 1e-9)).flat]


@dataclass(frozen=True)
class Ranking:
    """Heads in an order of their own instead of layer by layer; perhaps not all of them.

    Attributes:
        heads: those shown, from the first to the last.
        note: what the order is, shown below the grid.
    """

    heads: tuple[HeadChoice, ...]
    note: str


def pack_grid(
    tiles: Tiles,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    selected: HeadChoice | None,
    figure: TileFigure | None,
    ranking: Ranking | None,
    name: str = "heads",
) -> bytes:
    """The payload of `head_grid.js`: sizes, tokens as they are shown, colours, what stands where, and the tiles."""
    spec = tiles.spec
    tokens = (len(query_tokens), len(key_tokens))
    assert tokens == (spec.queries, spec.keys), "one token for each query row and each key column"
    if figure is not None:
        assert figure.values.shape == (spec.layers, spec.heads), "one figure for each head"
    header = {
        "layers": spec.layers,
        "heads": spec.heads,
        "rows": spec.rows,
        "columns": spec.columns,
        "blockQueries": spec.block_queries,
        "blockKeys": spec.block_keys,
        "queryTokens": wire.display_tokens(query_tokens),
        "keyTokens": wire.display_tokens(key_tokens),
        "stops": SEQUENTIAL,
        "ticks": SQRT_TICKS,
        "firstCell": FIRST_CELL.tolist(),
        "firstThousandth": FIRST_THOUSANDTH.tolist(),
        "name": name,
        "selected": None if selected is None else [selected.layer, selected.head],
        "ranked": None if ranking is None else [choice.layer * spec.heads + choice.head for choice in ranking.heads],
        "figure": None if figure is None else _described(figure),
        "notes": [part.note for part in (figure, ranking) if part is not None],
        "digest": tiles.digest,
    }
    return wire.pack(header, np.frombuffer(tiles.deflated, np.uint8))


def _described(figure: TileFigure) -> dict[str, object]:
    return {"name": figure.name, "unit": figure.unit, "texts": figure.texts(), "bars": figure.bars()}


def read_choice(value: object, layers: int, heads: int) -> HeadChoice | None:
    """What the browser sent, if it names a head that exists: it may still speak of the sentence or model before."""
    if not isinstance(value, Mapping):
        return None
    layer, head = value.get("layer"), value.get("head")
    if not (isinstance(layer, int) and isinstance(head, int) and 0 <= layer < layers and 0 <= head < heads):
        return None
    return HeadChoice(layer, head)


def head_grid(
    tiles: Tiles,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    selected: HeadChoice | None,
    figure: TileFigure | None = None,
    ranking: Ranking | None = None,
    on_open: Callable[[HeadChoice], None],
    key: str,
    name: str = "heads",
) -> None:
    """Show all heads, layer by layer or as ranked. Query tokens name the rows of each head, key tokens its columns.

    Args:
        selected: the head to mark as open.
        figure: what stands under each tile.
        ranking: another order than layer by layer.
        on_open: called before the next run, with the head that a person has opened.
        key: of the component.
        name: of the files in which a person saves the picture, without their ending.
    """

    def take() -> None:
        choice = read_choice(st.session_state[key].get("head"), tiles.spec.layers, tiles.spec.heads)
        if choice is not None:
            on_open(choice)

    data = pack_grid(tiles, query_tokens, key_tokens, selected, figure, ranking, name)
    _COMPONENT(data=data, key=key, on_head_change=take)
