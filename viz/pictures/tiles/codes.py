"""Make the weights of all heads small enough to be sent, and send them: a grid's, and tiles as they are asked for.

A weight w of a tile travels as the number of its cell, when [0, 1] is cut wherever its shade s = round(127 · √w) or its
third decimal t = round(1000 · w) changes: 1,129 cells. So the number to be read is exact, the colour is one of 128,
order is kept, and the bytes compress to less than half of what 16 bits of √w take. A weight above zero, however small,
has another cell than zero.

Numbers of other matrices travel with as many decimals as are read, in 16 bits each and compressed, at most half of what
float32 takes: x ≥ 0 as round(x · 10^d) + 1. 0 stands for zero, and 1 for a number above zero that no decimal shows.

Tiles of a grid are sent once and wait in the browser under an address. So a grid is a short message that names it, and
whoever chooses another attention sees it at once.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Final, Self

import numpy as np
import streamlit as st
from jaxtyping import Float, Int, UInt8, UInt16
from numpy.typing import NDArray

from viz.pictures import payload
from viz.pictures.component import Component
from viz.pictures.focus import FocusAxis
from viz.pictures.payload import ANYTHING, FLAT, LOCAL, Text, Tokens, fingerprint
from viz.pictures.source_picture import SourcePicture
from viz.text.messages import said

#: No tile is drawn larger than this on a common screen, and all tiles together stay a message of about a megabyte.
MAX_SIDE: Final = 128
MAX_CELLS: Final = 1_000_000
#: Where blocks are large, the positions of their maxima take most of the message, and count as what they were measured
#: to take; a little less than a megabyte, for the tokens travel too.
MAX_BYTES: Final = 950_000
LARGE_BLOCK: Final = 16

#: As many shades can be distinguished on the page, and fewer cells make a shorter message.
SHADES: Final = 128
#: For each shade the smallest t that it can have, and the number of its first cell.
FIRST_THOUSANDTH: Final = np.rint(1000 * (np.maximum(0.0, np.arange(SHADES) - 0.5) / (SHADES - 1)) ** 2).astype(
    np.int32
)
_CELLS: Final = np.maximum(np.diff(FIRST_THOUSANDTH, append=1000) + 1, [2] + [1] * (SHADES - 1)).astype(np.uint16)
FIRST_CELL: Final = (np.cumsum(_CELLS) - _CELLS).astype(np.uint16)


@dataclass(frozen=True)
class CellCode:
    """How the browser reads cells: base of the payloads that hold some."""

    def derived(self) -> dict[str, object]:
        """For each shade the number of its first cell, and the smallest third decimal that it can have."""
        return {"first_cell": FIRST_CELL.tolist(), "first_thousandth": FIRST_THOUSANDTH.tolist()}


@dataclass(frozen=True)
class GridSpec:
    """The sizes of a grid: what there is, and how many blocks lie along each side of a tile."""

    layers: int
    heads: int
    queries: int
    keys: int
    rows: int
    columns: int

    @classmethod
    def of(cls, shape: tuple[int, int, int, int]) -> Self:
        """Tiles of min(n, 128, √(10⁶ / heads)) blocks a side, n being queries or keys; of fewer where n is large.

        Where few queries have many keys, as words have patches of a picture, all weights are no more: each is a block.
        """
        layers, heads, queries, keys = shape
        side = max(1, min(MAX_SIDE, math.isqrt(MAX_CELLS // (layers * heads))))
        if queries * keys <= side**2:
            return cls(layers, heads, queries, keys, queries, keys)
        spec = cls(layers, heads, queries, keys, min(queries, side), min(keys, side))
        while side > 1 and spec.block_queries * spec.block_keys > LARGE_BLOCK and spec.expected_bytes > MAX_BYTES:
            side -= 1
            spec = cls(layers, heads, queries, keys, min(queries, side), min(keys, side))
        return spec

    @property
    def expected_bytes(self) -> float:
        """What large blocks take, as measured on random weights: a byte a weight, and the bits of its position."""
        offset = 1.15 * math.log2(self.block_queries * self.block_keys) / 8
        return self.layers * self.heads * self.rows * self.columns * (1 + offset)

    @property
    def block_queries(self) -> int:
        """Rows of the largest block; others have one less."""
        return math.ceil(self.queries / self.rows)

    @property
    def block_keys(self) -> int:
        """Columns of the largest block; others have one less."""
        return math.ceil(self.keys / self.columns)

    def derived(self) -> dict[str, object]:
        """The sizes of blocks."""
        return {"block_queries": self.block_queries, "block_keys": self.block_keys}

    @property
    def is_pooled(self) -> bool:
        """Whether a block holds more than one weight."""
        return self.block_queries * self.block_keys > 1


@dataclass(frozen=True)
class Tiles:
    """All tiles, ready to be sent."""

    spec: GridSpec  #: their sizes
    #: zlib of planes of bytes, each [layer, head, row, column]: the low and the high bytes of the weights' cells, and,
    #: where tiles are pooled, of the offsets.
    deflated: bytes
    digest: str  #: fingerprint of both

    @classmethod
    def of(cls, shape: tuple[int, int, int, int], layers: Iterable[Float[np.ndarray, "head query key"]]) -> Self:
        """Pool and code weights, a layer at a time; `shape`: layers, heads, queries, keys."""
        spec = GridSpec.of(shape)
        planes = np.empty((4 if spec.is_pooled else 2, *shape[:2], spec.rows, spec.columns), np.uint8)
        for layer, weights in enumerate(layers):
            assert weights.shape == shape[1:], f"layer {layer} has shape {weights.shape}, expected {shape[1:]}"
            for head, matrix in enumerate(weights):
                maxima, offsets = pool(matrix, spec) if spec.is_pooled else (matrix, None)
                cells = code(maxima)
                planes[0, layer, head], planes[1, layer, head] = cells & 255, cells >> 8
                if offsets is not None:
                    planes[2, layer, head], planes[3, layer, head] = offsets & 255, offsets >> 8
        deflated = payload.deflate(planes)
        return cls(spec, deflated, fingerprint(repr(spec), np.frombuffer(deflated, np.uint8)))


@dataclass(frozen=True)
class LayerTiles:
    """The tiles of one layer, ready to be sent before those of the others are computed."""

    spec: GridSpec  #: the sizes of all tiles
    layer: int  #: from 0
    deflated: bytes  #: as that of `Tiles`, of one layer alone

    @classmethod
    def of(
        cls,
        spec: GridSpec,
        layer: int,
        maxima: Float[np.ndarray, "head row column"],
        down: Int[np.ndarray, "head row column"],
        across: Int[np.ndarray, "head row column"],
    ) -> Self:
        """Code what is pooled already: the largest weights of blocks, and where in its block each is."""
        assert maxima.shape == (spec.heads, spec.rows, spec.columns), "one number for each block of each head"
        numbers = [code(maxima), (down * spec.block_keys + across).astype(np.uint16)]
        planes = [
            part.astype(np.uint8) for number in numbers[: 1 + spec.is_pooled] for part in (number & 255, number >> 8)
        ]
        return cls(spec, layer, payload.deflate(np.stack(planes)))


def edges(count: int, blocks: int) -> Int[np.ndarray, "edge"]:
    """Where blocks begin that share `count` rows or columns as evenly as integers allow, and at last where they end."""
    return np.arange(blocks + 1) * count // blocks


def pool(
    weights: Float[np.ndarray, "query key"], spec: GridSpec
) -> tuple[Float[np.ndarray, "row column"], UInt16[np.ndarray, "row column"]]:
    """The largest weight of every block, and its offset there: rows down · `block_keys` + columns across.

    Maximum and not mean, because a head that attends sharply would fade with every doubling of the sentence.
    """
    tallest, down = _pool_rows(weights, spec.rows)
    maxima, across = _pool_rows(np.ascontiguousarray(tallest.T), spec.columns)
    chosen = edges(spec.keys, spec.columns)[:-1, None] + across
    offsets = down.T[chosen, np.arange(spec.rows)] * np.uint16(spec.block_keys) + across
    return maxima.T, offsets.T


def _pool_rows(
    values: Float[np.ndarray, "row other"], blocks: int
) -> tuple[Float[np.ndarray, "block other"], UInt16[np.ndarray, "block other"]]:
    """The largest of each block of rows, and how many rows down in its block it is."""
    begin, end = edges(len(values), blocks)[:-1], edges(len(values), blocks)[1:]
    largest = values[begin]
    down = np.zeros(largest.shape, np.uint16)
    for further in range(1, math.ceil(len(values) / blocks)):
        # A block that is one row short sees its last row again, which is not larger than itself.
        candidates = values[np.minimum(begin + further, end - 1)]
        down = np.maximum(down, (candidates > largest) * np.uint16(further))
        largest = np.maximum(largest, candidates)
    return largest, down


def code(weights: Float[np.ndarray, "..."]) -> UInt16[np.ndarray, "..."]:
    """The number of the cell of each weight in [0, 1]. Rounding errors just outside the range are cut off."""
    inside = np.clip(weights, 0.0, 1.0)
    shades = np.rint((SHADES - 1) * np.sqrt(inside)).astype(np.uint8)
    within = np.rint(1000 * inside).astype(np.int32) - FIRST_THOUSANDTH[shades]
    within[(shades == 0) & (inside > 0)] = 1
    cells: NDArray[np.uint16] = FIRST_CELL[shades] + np.clip(within, 0, _CELLS[shades] - 1).astype(np.uint16)
    return cells


MOST_DECIMALS: Final = 4
_LARGEST: Final = 65_534


def decimals_for(top: float) -> int:
    """How many decimals there is room for, `top` being the largest number; at most four."""
    return max(0, min(MOST_DECIMALS, math.floor(math.log10(_LARGEST / max(top, 1e-9)))))


def codes(values: Float[np.ndarray, "..."], decimals: int) -> UInt16[np.ndarray, "..."]:
    """The code of every number. Rounding errors below zero are cut off, and so is what is too large for 16 bits."""
    shown = np.rint(np.clip(values, 0.0, _LARGEST / 10**decimals) * 10**decimals).astype(np.uint16)
    coded: np.ndarray[tuple[int, ...], np.dtype[np.uint16]] = np.where(shown > 0, shown + 1, values > 0).astype(
        np.uint16
    )
    return coded


def pack_decimals(values: Float[np.ndarray, "..."], decimals: int) -> bytes:
    """Codes as two planes of bytes, low before high, compressed; `js` reads them."""
    coded = codes(values, decimals).ravel()
    return payload.deflate(np.stack([coded & 255, coded >> 8]).astype(np.uint8))


#: Rows, columns, block → the largest number of every block × block cells.
Pooled = Callable[[slice, slice, tuple[int, int]], Float[np.ndarray, "row column"]]


@dataclass(frozen=True, eq=False)
class Source:
    """What tiles are cut from."""

    address: str  #: names this very matrix
    shape: tuple[int, int]  #: its rows and columns
    decimals: int  #: as many as are sent
    pooled: Pooled  #: gives the numbers


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
    left_out: tuple[int, ...] = ()  #: keys whose columns are empty, because a person left them out
    picture: Annotated[SourcePicture | None, LOCAL] = None  #: that the keys are parts of

    def __post_init__(self) -> None:
        tokens = (len(self.query_tokens), len(self.key_tokens))
        assert tokens == (self.spec.queries, self.spec.keys), "one token for each query row and each key column"

    def derived(self) -> dict[str, object]:
        """As of all cells, and the picture with its size."""
        return super().derived() | ({} if self.picture is None else self.picture.derived())


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
