"""Tiles of a matrix as a picture asks for them."""

import numpy as np
import pytest
import streamlit as st

from tests.viz.pictures.tiles.decoded import numbers_of
from tests.viz.sent import Shown, caught, unpack
from viz.pictures.payload import pack
from viz.pictures.tiles.codes import Source
from viz.pictures.tiles.store import MAX_TILES, TILE_SIDE, Answer, Tile, tile_server

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
