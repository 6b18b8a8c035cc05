"""Tiles: their sizes, what pooling keeps, and that what a picture asks for arrives as it was."""

import zlib

import numpy as np
import pytest
import streamlit as st

from tests.viz.sent import Shown, caught, unpack
from viz.pictures.payload import pack
from viz.pictures.tiles import codes as codes_module
from viz.pictures.tiles.codes import (
    FIRST_CELL,
    FIRST_THOUSANDTH,
    MAX_LEVEL,
    MAX_TILES,
    TILE_SIDE,
    Answer,
    Frame,
    GridSpec,
    Request,
    Source,
    Tile,
    Tiles,
    as_array,
    code,
    edges,
    pack_decimals,
    pool,
    tile_server,
    wanted_tiles,
)


def numbers_of(deflated: bytes, decimals: int) -> np.ndarray:
    """What payload.js reads."""
    planes = np.frombuffer(zlib.decompress(deflated), np.uint8).reshape(2, -1).astype(int)
    coded = planes[0] + 256 * planes[1]
    return np.where(coded > 1, (coded - 1) / 10**decimals, coded * 0.25 / 10**decimals)


def attention(*shape: int) -> np.ndarray:
    weights = np.random.default_rng(0).random(shape, dtype=np.float32) ** 4
    return weights / weights.sum(-1, keepdims=True)


def shades_and_thousandths(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shades and thousandths of cells, as head_grid.js reads them; the shade 0 has none but tells zero from nearly."""
    shades = np.searchsorted(FIRST_CELL, cells, side="right") - 1
    within = cells.astype(int) - FIRST_CELL[shades]
    thousandths = np.where(shades == 0, 0, FIRST_THOUSANDTH[shades] + within)
    return shades, thousandths


@pytest.mark.parametrize(
    ("shape", "tile", "block"),
    [
        ((6, 8, 129, 128), (128, 128), (2, 1)),
        ((6, 8, 300, 300), (128, 128), (3, 3)),
        # Long sentences have smaller tiles: the place of a maximum in its block takes more bits, the larger the block.
        ((6, 8, 1000, 2048), (96, 96), (11, 22)),
        ((12, 12, 4096, 4096), (48, 48), (86, 86)),
        ((24, 16, 4096, 4096), (28, 28), (147, 147)),
        # 24 × 16 heads: √(10⁶ / 384) = 51 is the narrower limit.
        ((24, 16, 100, 100), (51, 51), (2, 2)),
        ((1000, 2000, 5, 5), (1, 1), (5, 5)),
        # Blocks of 16 are not large yet; and no tile has less than a pixel.
        ((6, 8, 512, 512), (128, 128), (4, 4)),
        ((500, 500, 1000, 1000), (1, 1), (1000, 1000)),
    ],
)
def test_a_tile_has_as_many_pixels_as_tokens_or_as_the_limits_allow(
    shape: tuple[int, int, int, int], tile: tuple[int, int], block: tuple[int, int]
) -> None:
    spec = GridSpec.of(shape)
    assert (spec.rows, spec.columns) == tile
    assert (spec.block_queries, spec.block_keys) == block
    assert spec.is_pooled


@pytest.mark.parametrize(("count", "blocks"), [(7, 3), (129, 128), (512, 128), (5, 5)])
def test_blocks_cover_every_place_once_and_differ_by_one_at_most(count: int, blocks: int) -> None:
    cuts = edges(count, blocks)
    assert (cuts[0], cuts[-1], len(cuts)) == (0, count, blocks + 1)
    assert set(np.diff(cuts)) <= {count // blocks, -(-count // blocks)}


def test_pooling_keeps_the_maximum_of_every_block_and_its_place() -> None:
    weights = attention(7, 10)
    spec = GridSpec(1, 1, 7, 10, rows=3, columns=4)
    maxima, offsets = pool(weights, spec)
    rows, columns = edges(7, 3), edges(10, 4)
    for row, column in np.ndindex(3, 4):
        block = weights[rows[row] : rows[row + 1], columns[column] : columns[column + 1]]
        down, across = divmod(int(offsets[row, column]), spec.block_keys)
        assert maxima[row, column] == block.max() == block[down, across]


@pytest.mark.parametrize(("shape", "side"), [((2, 3, 4, 5), 128), ((2, 3, 300, 200), 128), ((2, 3, 70, 80), 4)])
def test_tiles_arrive_as_they_were(
    shape: tuple[int, int, int, int], side: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With so few blocks they are so large that a place in one takes two bytes.
    monkeypatch.setattr(codes_module, "MAX_SIDE", side)
    weights = attention(*shape)
    tiles = Tiles.of(shape, iter(weights))
    planes = np.frombuffer(zlib.decompress(tiles.deflated), np.uint8).astype(int)
    spec = tiles.spec
    planes = planes.reshape(-1, 2, 2, 3, spec.rows, spec.columns)
    assert len(planes) == (2 if spec.is_pooled else 1)
    for layer, head in np.ndindex(2, 3):
        maxima, offsets = pool(weights[layer, head], spec)
        joined = planes[:, 0, layer, head] + 256 * planes[:, 1, layer, head]
        np.testing.assert_array_equal(joined[0], code(maxima))
        if spec.is_pooled:
            np.testing.assert_array_equal(joined[1], offsets)
            assert side > 4 or offsets.max() > 255


def test_shade_and_third_decimal_are_exact_and_order_is_kept() -> None:
    weights = np.sort(np.concatenate([np.linspace(0, 1, 100_003), np.geomspace(1e-9, 1, 50_000)]).astype(np.float32))
    cells = code(weights)
    shades, thousandths = shades_and_thousandths(cells)
    np.testing.assert_array_equal(shades, np.rint(127 * np.sqrt(weights)))
    np.testing.assert_array_equal(thousandths, np.rint(1000 * weights))
    assert (np.diff(cells.astype(int)) >= 0).all()
    assert cells.max() == 1128


def test_tiny_weights_are_told_from_zero_other_weights_by_their_digest_and_shapes_by_a_mistake() -> None:
    assert code(np.array([0.0, -1e-7, 1e-12, 1.0, 1.01], np.float32)).tolist() == [0, 0, 1, 1128, 1128]
    weights = attention(2, 2, 3, 3)
    assert Tiles.of(weights.shape, weights).digest == Tiles.of(weights.shape, weights.copy()).digest
    assert Tiles.of(weights.shape, weights).digest != Tiles.of(weights.shape, weights[::-1]).digest
    with pytest.raises(AssertionError, match="layer 1 has shape"):
        Tiles.of((2, 3, 4, 4), [attention(3, 4, 4), attention(3, 4, 5)])


def test_four_decimals_are_exact_and_a_tiny_number_is_told_from_zero() -> None:
    values = np.concatenate([np.linspace(0, 1, 70_001), [0.0, 1e-12, 4e-5, -1e-8]]).astype(np.float32)
    found = numbers_of(pack_decimals(values, 4), 4)
    shown = values >= 5e-5
    np.testing.assert_allclose(found[shown], np.rint(values[shown].astype(np.float64) * 1e4) / 1e4, atol=1.1e-4 * 1e-3)
    assert found[-4:].tolist() == [0, 2.5e-5, 2.5e-5, 0]


@pytest.mark.parametrize("decimals", range(5))
def test_what_is_too_large_for_its_decimals_is_cut_off_at_the_largest_number(decimals: int) -> None:
    largest = 65_534 / 10**decimals
    values = np.array([largest / 2, largest, 2 * largest, 1e6], np.float64)
    found = numbers_of(pack_decimals(values, decimals), decimals)
    np.testing.assert_allclose(found, [largest / 2, largest, largest, largest], rtol=1e-6)


ROWS, COLUMNS = 700, 300
VALUES = np.random.default_rng(0).random((ROWS, COLUMNS), dtype=np.float32) ** 6


def pooled(rows: slice, columns: slice, block: tuple[int, int]) -> np.ndarray:
    part = VALUES[rows, columns]
    missing = [(0, -count % size) for count, size in zip(part.shape, block, strict=True)]
    padded = np.pad(part, missing, constant_values=-1)
    return padded.reshape(padded.shape[0] // block[0], block[0], -1, block[1]).max((1, 3))


SOURCE = Source("here", (ROWS, COLUMNS), 4, pooled)


def test_tiles_hold_the_maxima_of_their_blocks_and_end_with_the_matrix() -> None:
    header, (deflated,) = unpack(pack(Answer(SOURCE, (Tile(0, 2, 1), Tile(1, 0, 0)), 7)))
    assert (header["address"], header["serial"]) == ("here", 7)
    assert header["tiles"] == [[0, 2, 1, ROWS - 2 * TILE_SIDE, COLUMNS - TILE_SIDE], [1, 0, 0, TILE_SIDE, COLUMNS // 2]]
    found = numbers_of(deflated.tobytes(), 4)
    exact = VALUES[2 * TILE_SIDE :, TILE_SIDE:]
    np.testing.assert_allclose(found[: exact.size], exact.ravel(), atol=5.1e-5)
    halved = VALUES[: 2 * TILE_SIDE].reshape(TILE_SIDE, 2, COLUMNS // 2, 2).max((1, 3))
    np.testing.assert_allclose(found[exact.size :], halved.ravel(), atol=5.1e-5)


def answered(monkeypatch: pytest.MonkeyPatch, asked: object) -> Shown:
    """What a page sends after a request."""
    monkeypatch.setattr(st, "session_state", {})
    shown = caught(monkeypatch)
    tile_server(SOURCE, key="tiles")
    shown[0].answers["asked"](asked)
    tile_server(SOURCE, key="tiles")
    return shown[1]


def test_tiles_that_exist_are_sent_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = answered(monkeypatch, {"address": "here", "serial": 3, "tiles": [[0, 2, 1], [1, 1, 0]]})
    assert (sent.header["address"], sent.header["serial"]) == ("here", 3)
    assert [tile[:3] for tile in sent.header["tiles"]] == [[0, 2, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    "value",
    [
        None,
        "here",
        {"address": "elsewhere", "serial": 1, "tiles": [[0, 0, 0]]},
        {"address": "here", "serial": "1", "tiles": [[0, 0, 0]]},
        {"address": "here", "serial": 1, "tiles": []},
        {"address": "here", "serial": 1, "tiles": [[0, 0, 0]] * (MAX_TILES + 1)},
        {"address": "here", "serial": 1, "tiles": [[0, 3, 0]]},
        {"address": "here", "serial": 1, "tiles": [[0, -1, 0]]},
        {"address": "here", "serial": 1, "tiles": [[7, 0, 0]]},
        {"address": "here", "serial": 1, "tiles": [[1 << 60, 0, 0]]},
        {"address": "here", "serial": 1, "tiles": [[-1, 0, 0]]},
        {"address": "here", "serial": 1, "tiles": [[0, 0]]},
        {"address": "here", "serial": 1, "tiles": [[0, True, 0]]},
        {"address": "here", "serial": 1, "tiles": ["0/0/0"]},
    ],
)
def test_whatever_else_the_browser_sends_brings_no_tiles_and_it_learns_whose_there_are(
    monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    header = answered(monkeypatch, value).header
    assert (header["address"], header["serial"], header["tiles"]) == ("here", 0, [])


def tiles_of(*shape: *tuple[int, int, int, int]) -> Tiles:
    weights = np.random.default_rng(0).random(shape, dtype=np.float32)
    return Tiles.of(shape, weights / weights.sum(-1, keepdims=True))


@pytest.mark.parametrize(
    ("tiles", "exist"),
    [
        ([(0, 0, 0)], True), ([(0, 0, 0)] * MAX_TILES, True), ([(0, 1, 0), (0, 0, 1)], True), ([(0, 2, 0)], False),
        ([(0, 0, 2)], False), ([(MAX_LEVEL, 0, 0)], True), ([(MAX_LEVEL + 1, 0, 0)], False), ([(1, 0, 0)], True),
        ([(1, 1, 0)], False), ([], False), ([(0, 0, 0)] * (MAX_TILES + 1), False),
    ],
)  # fmt: skip
def test_a_tile_exists_if_it_begins_within_the_matrix(tiles: list[tuple[int, int, int]], exist: bool) -> None:
    source = Source("here", (2 * TILE_SIDE, TILE_SIDE + 1), 4, pooled)
    assert Tile(1, 2, 3).slices() == (slice(4 * TILE_SIDE, 6 * TILE_SIDE), slice(6 * TILE_SIDE, 8 * TILE_SIDE))
    found = wanted_tiles(Request(1, tuple(tiles)), source)
    assert found == (tuple(Tile(*numbers) for numbers in tiles) if exist else None)


def test_the_payload_names_address_sizes_tokens_and_how_cells_are_read() -> None:
    tiles = tiles_of(2, 3, 4, 5)
    frame = Frame(spec=tiles.spec, query_tokens=[*"abc", "\u202e"], key_tokens=list("vwxyz"), address="here")
    header, (deflated,) = unpack(pack(frame, as_array(tiles)))
    assert header["address"] == "here"
    assert (header["layers"], header["heads"], header["rows"], header["columns"]) == (2, 3, 4, 5)
    assert (header["blockQueries"], header["blockKeys"]) == (1, 1)
    assert header["queryTokens"] == ["a", "b", "c", "\\u202e"]
    assert header["keyTokens"] == ["v", "w", "x", "y", "z"]
    assert (header["firstCell"], header["firstThousandth"]) == (FIRST_CELL.tolist(), FIRST_THOUSANDTH.tolist())
    assert deflated.tobytes() == tiles.deflated
    assert (header["number"], header["top"]) == ("weight", 1.0)
    with pytest.raises(AssertionError, match="one token for each"):
        Frame(spec=tiles_of(1, 1, 3, 3).spec, query_tokens="ab", key_tokens="abc", address="here")
