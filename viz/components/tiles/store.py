"""Send tiles to the browser once, where they wait until a grid shows them, perhaps sooner than Python could answer.

So a grid is a short message that names an address, and whoever chooses another attention sees it at once.
"""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from viz.components.declare import declare
from viz.core import payload, token_text
from viz.core.focus import AXES
from viz.core.messages import said, shown
from viz.core.tiles import FIRST_CELL, FIRST_THOUSANDTH, GridSpec, LayerTiles, Tiles

_COMPONENT = declare("components/tiles/tile_keeper.js")


def pack_tiles(
    tiles: Tiles,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    address: str,
    number: str = said("weight"),
    top: float = 1.0,
    site: str | None = None,
) -> bytes:
    """The payload of `tile_keeper.js`: sizes, tokens as they are shown, how cells are decoded, and the tiles."""
    header = _header(tiles.spec, query_tokens, key_tokens, address, site) | {"number": shown(number), "top": top}
    return payload.pack(header, np.frombuffer(tiles.deflated, np.uint8))


def pack_frame(
    spec: GridSpec, query_tokens: Sequence[str], key_tokens: Sequence[str], address: str, site: str | None = None
) -> bytes:
    """The same without any tiles: they follow, each layer by itself."""
    return payload.pack(_header(spec, query_tokens, key_tokens, address, site))


def pack_layer(tiles: LayerTiles, address: str) -> bytes:
    """One layer of tiles whose frame is sent under the same address."""
    return payload.pack({"address": address, "layer": tiles.layer}, np.frombuffer(tiles.deflated, np.uint8))


def _header(
    spec: GridSpec, query_tokens: Sequence[str], key_tokens: Sequence[str], address: str, site: str | None
) -> dict[str, object]:
    tokens = (len(query_tokens), len(key_tokens))
    assert tokens == (spec.queries, spec.keys), "one token for each query row and each key column"
    return {
        "address": address,
        "layers": spec.layers,
        "heads": spec.heads,
        "rows": spec.rows,
        "columns": spec.columns,
        "blockQueries": spec.block_queries,
        "blockKeys": spec.block_keys,
        "queryTokens": token_text.display_tokens(query_tokens),
        "keyTokens": token_text.display_tokens(key_tokens),
        "axes": None if site is None else [asdict(axis) for axis in AXES[site]],
        "firstCell": FIRST_CELL.tolist(),
        "firstThousandth": FIRST_THOUSANDTH.tolist(),
    }


def send_tiles(
    tiles: Tiles,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    address: str,
    key: str,
    number: str = said("weight"),
    top: float = 1.0,
    site: str | None = None,
) -> None:
    """Send tiles to wait under an address, as long as this is on the page. Shows nothing.

    Args:
        tiles: all heads of one attention.
        query_tokens, key_tokens: one for each row and each column of a tile that is not pooled.
        address: names these very tiles; others need another one.
        key: of the component.
        number, top: what one number is called, and what 1 stands for.
        site: the attention, where its tokens are marked as other pictures of the page point at them.
    """
    packed = pack_tiles(tiles, query_tokens, key_tokens, address, number, top, site)
    _COMPONENT(data=packed, key=key, height=1)


def send_frame(
    spec: GridSpec, query_tokens: Sequence[str], key_tokens: Sequence[str], *, address: str, key: str, site: str
) -> None:
    """As `send_tiles`, of a grid whose tiles `send_layer` sends one layer after another, in any order."""
    _COMPONENT(data=pack_frame(spec, query_tokens, key_tokens, address, site), key=key, height=1)


def send_layer(tiles: LayerTiles, *, address: str, key: str) -> None:
    """Send one layer of tiles to the frame of this address."""
    _COMPONENT(data=pack_layer(tiles, address), key=key, height=1)
