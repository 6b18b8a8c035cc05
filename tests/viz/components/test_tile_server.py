"""Numbers as so many decimals, and tiles of a matrix as a picture asks for them."""

import zlib

import numpy as np
import pytest

from tests.viz.sent import unpack
from viz.components.tiles.server import MAX_TILES, TILE_SIDE, Request, Tile, pack_answer, read_request
from viz.core.decimals import codes, decimals_for, pack_decimals
from viz.core.tile_source import Source

ROWS, COLUMNS = 700, 300
VALUES = np.random.default_rng(0).random((ROWS, COLUMNS), dtype=np.float32) ** 6


def pooled(rows: slice, columns: slice, block: tuple[int, int]) -> np.ndarray:
    part = VALUES[rows, columns]
    missing = [(0, -count % size) for count, size in zip(part.shape, block, strict=True)]
    padded = np.pad(part, missing, constant_values=-1)
    return padded.reshape(padded.shape[0] // block[0], block[0], -1, block[1]).max((1, 3))


SOURCE = Source("here", (ROWS, COLUMNS), 4, pooled)


def numbers_of(deflated: bytes, decimals: int) -> np.ndarray:
    """What decimals.js reads."""
    planes = np.frombuffer(zlib.decompress(deflated), np.uint8).reshape(2, -1).astype(int)
    coded = planes[0] + 256 * planes[1]
    return np.where(coded > 1, (coded - 1) / 10**decimals, coded * 0.25 / 10**decimals)


def test_four_decimals_are_exact_and_a_tiny_number_is_told_from_zero() -> None:
    values = np.concatenate([np.linspace(0, 1, 70_001), [0.0, 1e-12, 4e-5, -1e-8]]).astype(np.float32)
    found = numbers_of(pack_decimals(values, 4), 4)
    shown = values >= 5e-5
    np.testing.assert_allclose(found[shown], np.rint(values[shown].astype(np.float64) * 1e4) / 1e4, atol=1.1e-4 * 1e-3)
    assert found[-4:].tolist() == [0, 2.5e-5, 2.5e-5, 0]


@pytest.mark.parametrize(("top", "decimals"), [(1.0, 4), (6.5, 4), (6.6, 3), (70.0, 2), (1e7, 0), (0.0, 4)])
def test_large_numbers_have_fewer_decimals_and_still_fit(top: float, decimals: int) -> None:
    assert decimals_for(top) == decimals
    assert int(codes(np.array([top]), decimals)[0]) <= 65_535


def test_tiles_hold_the_maxima_of_their_blocks_and_end_with_the_matrix() -> None:
    request = Request(7, (Tile(0, 2, 1), Tile(1, 0, 0)))
    header, (deflated,) = unpack(pack_answer(SOURCE, request))
    assert (header["address"], header["serial"]) == ("here", 7)
    assert header["tiles"] == [[0, 2, 1, ROWS - 2 * TILE_SIDE, COLUMNS - TILE_SIDE], [1, 0, 0, TILE_SIDE, COLUMNS // 2]]
    found = numbers_of(deflated.tobytes(), 4)
    exact = VALUES[2 * TILE_SIDE :, TILE_SIDE:]
    np.testing.assert_allclose(found[: exact.size], exact.ravel(), atol=5.1e-5)
    halved = VALUES[: 2 * TILE_SIDE].reshape(TILE_SIDE, 2, COLUMNS // 2, 2).max((1, 3))
    np.testing.assert_allclose(found[exact.size :], halved.ravel(), atol=5.1e-5)


def test_a_request_for_tiles_that_exist_is_read() -> None:
    value = {"address": "here", "serial": 3, "tiles": [[0, 2, 1], [1, 1, 0]]}
    assert read_request(value, SOURCE) == Request(3, (Tile(0, 2, 1), Tile(1, 1, 0)))


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
        {"address": "here", "serial": 1, "tiles": [[99, 0, 0]]},
        {"address": "here", "serial": 1, "tiles": [[-1, 0, 0]]},
        {"address": "here", "serial": 1, "tiles": [[0, 0]]},
        {"address": "here", "serial": 1, "tiles": [[0, True, 0]]},
        {"address": "here", "serial": 1, "tiles": ["0/0/0"]},
    ],
)
def test_whatever_else_the_browser_sends_is_no_request(value: object) -> None:
    assert read_request(value, SOURCE) is None


def test_without_a_request_the_browser_learns_whose_tiles_there_are() -> None:
    header, _ = unpack(pack_answer(SOURCE, None))
    assert (header["address"], header["tiles"]) == ("here", [])
