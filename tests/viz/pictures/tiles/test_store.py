import numpy as np
import pytest

from tests.viz.sent import unpack
from viz.pictures.payload import pack
from viz.pictures.tiles.codes import FIRST_CELL, FIRST_THOUSANDTH, Tiles
from viz.pictures.tiles.store import Frame, as_array


def tiles_of(*shape: *tuple[int, int, int, int]) -> Tiles:
    weights = np.random.default_rng(0).random(shape, dtype=np.float32)
    return Tiles.of(shape, weights / weights.sum(-1, keepdims=True))


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


def test_tokens_that_do_not_fit_the_tiles_are_a_mistake() -> None:
    with pytest.raises(AssertionError, match="one token for each"):
        Frame(spec=tiles_of(1, 1, 3, 3).spec, query_tokens="ab", key_tokens="abc", address="here")
