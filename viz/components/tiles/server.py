"""Send exact tiles of a matrix too large to be sent whole, as the picture of it asks for them. Shows nothing.

A tile of level l at (row, column) holds `TILE_SIDE` × `TILE_SIDE` numbers, each the largest of 2^l × 2^l cells; at the
ends of the matrix it holds fewer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import streamlit as st

from viz.components.declare import declare
from viz.core import payload
from viz.core.decimals import pack_decimals
from viz.core.tile_source import Source
from viz.core.widget_values import sent

#: As in tile_requests.js.
TILE_SIDE: Final = 256
#: So many at once, and no coarser.
MAX_TILES, MAX_LEVEL = 6, 6

_COMPONENT = declare("components/tiles/tile_server.js")


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile by its level, row and column; all count from 0."""

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

    serial: int
    tiles: tuple[Tile, ...]


def read_request(value: object, source: Source) -> Request | None:
    """What the browser sent, if it asks for tiles of this matrix: it may still speak of the one before."""
    if not isinstance(value, Mapping) or value.get("address") != source.address:
        return None
    serial, listed = value.get("serial"), value.get("tiles")
    if type(serial) is not int or not isinstance(listed, list) or not 0 < len(listed) <= MAX_TILES:
        return None
    tiles = []
    for entry in listed:
        if not isinstance(entry, list) or len(entry) != 3 or not all(type(number) is int for number in entry):
            return None
        tile = Tile(*entry)
        if not 0 <= tile.level <= MAX_LEVEL or min(tile.row, tile.column) < 0:
            return None
        if any(part.start >= count for part, count in zip(tile.slices(), source.shape, strict=True)):
            return None
        tiles.append(tile)
    return Request(serial, tuple(tiles))


def pack_answer(source: Source, request: Request | None) -> bytes:
    """The payload of `tile_server.js`: whose tiles can be asked for, and those that were."""
    tiles = () if request is None else request.tiles
    parts = [source.pooled(*tile.slices(), (1 << tile.level, 1 << tile.level)) for tile in tiles]
    header = {
        "address": source.address,
        "serial": 0 if request is None else request.serial,
        "decimals": source.decimals,
        "tiles": [[t.level, t.row, t.column, *part.shape] for t, part in zip(tiles, parts, strict=True)],
    }
    numbers = np.concatenate([part.ravel() for part in parts]) if parts else np.zeros(0, np.float32)
    return payload.pack(header, np.frombuffer(pack_decimals(numbers, source.decimals), np.uint8))


def tile_server(source: Source, *, key: str) -> None:
    """Answer what the picture of this matrix asks for, as long as this is on the page.

    Best called in a fragment of its own: a request then reruns nothing else.

    Args:
        source: what tiles are cut from.
        key: of the component.
    """
    request_key = f"{key}/request"

    def take() -> None:
        request = read_request(sent(key, "asked"), source)
        if request is not None:
            st.session_state[request_key] = (source.address, request)

    address, request = st.session_state.get(request_key, (None, None))
    asked = request if address == source.address else None
    _COMPONENT(data=pack_answer(source, asked), key=key, height=1, on_asked_change=take)
