"""Send tiles to the browser once, where they wait until a grid shows them, perhaps sooner than Python could answer.

So a grid is a short message that names an address, and whoever chooses another attention sees it at once.
"""

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from jaxtyping import UInt8

from viz.pictures.component import Component
from viz.pictures.focus import FocusAxis
from viz.pictures.payload import FLAT, Text, Tokens
from viz.pictures.tiles.codes import CellCode, GridSpec, LayerTiles, Tiles
from viz.text.messages import said

COMPONENT: Final = Component("pictures/tiles/tile_keeper.js")
_WEIGHT: Final = said("weight")


@dataclass(frozen=True, eq=False, kw_only=True)
class Frame(CellCode):
    """A grid without its tiles: they follow, each layer by itself, or come with it.

    Attributes:
        spec: the sizes.
        query_tokens, key_tokens: one for each row and each column of a tile that is not pooled.
        address: names these very tiles; others need another one.
        axes: by which tokens other pictures know its rows and its columns.
        number, top: what one number is called, and what 1 stands for.
    """

    spec: Annotated[GridSpec, FLAT]
    query_tokens: Tokens
    key_tokens: Tokens
    address: str
    axes: tuple[FocusAxis, FocusAxis] | None = None
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
