"""Tiles of a matrix as a picture asks for them."""

import numpy as np
import pytest

from tests.viz.components.tiles.decoded import numbers_of
from tests.viz.sent import unpack
from viz.components.tiles.server import MAX_TILES, TILE_SIDE, Request, Tile, pack_answer, read_request
from viz.core.tile_source import Source

ROWS, COLUMNS = 700, 300
VALUES = np.random.default_rng(0).random((ROWS, COLUMNS), dtype=np.float32) ** 6


def pooled(rows: slice, columns: slice, block: tuple[int, int]) -> np.ndarray:
    part = VALUES[rows, columns]
    missing = [(0, -count % size) for count, size in zip(part.shape, block, strict=True)]
    padded = np.pad(part, missing, constant_values=-1)
    return padded.reshape(padded.shape[0] // block[0], block[0], -1, block[1]).max((1, 3))


SOURCE = Source("here", (ROWS, COLUMNS), 4, pooled)


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
