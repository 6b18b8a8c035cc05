"""Send tiles to the browser: those of a grid, and exact ones of a large matrix as the browser asks for them.

Tiles of a grid are sent once and wait in the browser under an address. So a grid is a short message that names it, and
whoever chooses another attention sees it at once.
"""

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
import streamlit as st
from jaxtyping import UInt8

from viz.pictures import payload
from viz.pictures.component import Component
from viz.pictures.focus import FocusAxis
from viz.pictures.payload import ANYTHING, FLAT, LOCAL, Text, Tokens
from viz.pictures.tiles.codes import CellCode, GridSpec, LayerTiles, Source, Tiles, pack_decimals
from viz.text.messages import said

COMPONENT: Final = Component("pictures/tiles/tile_keeper.js")
_WEIGHT: Final = said("weight")


@dataclass(frozen=True, eq=False, kw_only=True)
class Frame(CellCode):
    """A grid without its tiles: they follow, each layer by itself, or come with it."""

    spec: Annotated[GridSpec, FLAT]  #: the sizes
    #: query_tokens, key_tokens: one for each row and each column of a tile that is not pooled.
    query_tokens: Tokens
    key_tokens: Tokens
    address: str  #: names these very tiles; others need another one
    axes: tuple[FocusAxis, FocusAxis] | None = None  #: by which tokens other pictures know its rows and its columns
    #: number, top: what one number is called, and what 1 stands for.
    number: Text = _WEIGHT
    top: float = 1.0

    def __post_init__(self) -> None:
        tokens = (len(self.query_tokens), len(self.key_tokens))
        assert tokens == (self.spec.queries, self.spec.keys), "one token for each query row and each key column"


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of tiles, from 0, whose frame is sent under the same address."""

    address: str
    layer: int


def send_tiles(tiles: Tiles, frame: Frame, *, key: str) -> None:
    """Send all heads of one attention, to wait under an address as long as this is on the page. Shows nothing."""
    COMPONENT.show(frame, as_array(tiles), key=key)


def send_frame(frame: Frame, *, key: str) -> None:
    """As `send_tiles`, of a grid whose tiles `send_layer` sends one layer after another, in any order."""
    COMPONENT.show(frame, key=key)


def send_layer(tiles: LayerTiles, *, address: str, key: str) -> None:
    """Send one layer of tiles to the frame of this address."""
    COMPONENT.show(Layer(address, tiles.layer), as_array(tiles), key=key)


def as_array(tiles: Tiles | LayerTiles) -> UInt8[np.ndarray, "byte"]:
    """The tiles as a payload takes them."""
    return np.frombuffer(tiles.deflated, np.uint8)


#: As in tile_store.js.
TILE_SIDE: Final = 256
#: So many at once, and no coarser.
MAX_TILES, MAX_LEVEL = 6, 6

_COMPONENT: Final = Component("pictures/tiles/tile_server.js")


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile by its level, row and column; all count from 0.

    At level l it has `TILE_SIDE` × `TILE_SIDE` numbers, each the largest of 2^l × 2^l cells; fewer at the matrix's end.
    """

    level: int
    row: int
    column: int

    def slices(self) -> tuple[slice, slice]:
        """The cells it covers."""
        side = TILE_SIDE << self.level
        return slice(self.row * side, (self.row + 1) * side), slice(self.column * side, (self.column + 1) * side)


@dataclass(frozen=True, slots=True)
class Request:
    """What the browser asks for: its own number, by which it knows the answer, and the tiles."""

    serial: Annotated[int, ANYTHING]
    tiles: tuple[Annotated[tuple[int, int, int], range(1 << 31)], ...]


@dataclass(frozen=True, eq=False)
class Answer:
    """The tiles that were asked for, and whose tiles can be."""

    source: Annotated[Source, LOCAL]  #: what tiles are cut from
    wanted: Annotated[tuple[Tile, ...], LOCAL] = ()  #: the tiles, in order
    serial: int = 0  #: the number of the request; 0 without one

    def derived(self) -> dict[str, object]:
        """Level, row, column of each tile, how many rows and columns it has, and the numbers of all."""
        source = self.source
        parts = [source.pooled(*tile.slices(), (1 << tile.level, 1 << tile.level)) for tile in self.wanted]
        numbers = np.concatenate([part.ravel() for part in parts]) if parts else np.zeros(0, np.float32)
        return {
            "address": source.address,
            "decimals": source.decimals,
            "tiles": [[t.level, t.row, t.column, *part.shape] for t, part in zip(self.wanted, parts, strict=True)],
            "numbers": np.frombuffer(pack_decimals(numbers, source.decimals), np.uint8),
        }


def wanted_tiles(request: Request, source: Source) -> tuple[Tile, ...] | None:
    """The tiles that a request names, if all of them exist and they are not too many."""
    tiles = tuple(Tile(*numbers) for numbers in request.tiles)
    exist = all(
        tile.level <= MAX_LEVEL
        and all(part.start < count for part, count in zip(tile.slices(), source.shape, strict=True))
        for tile in tiles
    )
    return tiles if exist and 0 < len(tiles) <= MAX_TILES else None


def tile_server(source: Source, *, key: str) -> None:
    """Answer what the picture of this matrix asks for, as long as this is on the page.

    Best called in a fragment of its own: a request then reruns nothing else.
    """
    asked_key = f"{key}/asked"

    def take(request: Request) -> None:
        if (tiles := wanted_tiles(request, source)) is not None:
            st.session_state[asked_key] = (source.address, tiles, request.serial)

    address, *asked = st.session_state.get(asked_key, (None,))
    _COMPONENT.show(
        Answer(source, *asked) if address == source.address else Answer(source),
        key=key,
        asked=payload.hear(take, Request, about={"address": source.address}),
    )
