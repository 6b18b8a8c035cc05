import json
import struct
import time

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from viz.components import head_grid as module
from viz.components.head_grid import GridSpec, HeadChoice, pack_grid, pool_tiles, read_choice
from viz.theme import SEQUENTIAL


def attention(*shape):
    weights = np.random.default_rng(0).random(shape, dtype=np.float32) ** 4
    return weights / weights.sum(-1, keepdims=True)


def header_of(payload):
    (length,) = struct.unpack("<I", payload[:4])
    return json.loads(payload[4 : 4 + length])


@pytest.mark.parametrize("shape", [(6, 8, 20, 20), (4, 8, 18, 25), (6, 8, 128, 128), (1, 1, 1, 1), (6, 16, 102, 102)])
def test_what_fits_is_not_pooled(shape):
    spec = GridSpec.of(shape)
    assert not spec.is_pooled
    assert (spec.rows, spec.columns) == shape[2:]


@pytest.mark.parametrize(
    ("shape", "block", "tile"),
    [
        ((6, 8, 129, 20), (2, 1), (65, 20)),
        ((6, 8, 300, 300), (3, 3), (100, 100)),
        ((6, 8, 1000, 2048), (8, 16), (125, 128)),
        # 24 × 16 heads: √(10⁶ / 384) = 51 is the narrower limit.
        ((24, 16, 100, 100), (2, 2), (50, 50)),
    ],
)
def test_tiles_are_pooled_to_the_smallest_blocks_that_fit(shape, block, tile):
    spec = GridSpec.of(shape)
    assert (spec.block_queries, spec.block_keys) == block
    assert (spec.rows, spec.columns) == tile
    assert spec.layers * spec.heads * spec.rows * spec.columns <= module.MAX_CELLS


def test_pooling_keeps_the_maximum_of_every_block_and_its_place():
    weights = attention(2, 3, 7, 10)
    spec = GridSpec(2, 3, 7, 10, block_queries=3, block_keys=4)
    tiles = pool_tiles(weights, spec)
    assert tiles.maxima.shape == tiles.offsets.shape == (2, 3, 3, 3)
    for layer, head, row, column in np.ndindex(tiles.maxima.shape):
        block = weights[layer, head, 3 * row : 3 * row + 3, 4 * column : 4 * column + 4]
        down, across = divmod(int(tiles.offsets[layer, head, row, column]), 4)
        assert tiles.maxima[layer, head, row, column] == block.max() == block[down, across]


def test_padding_at_the_edge_never_wins_not_even_over_zeros():
    tiles = pool_tiles(np.zeros((1, 1, 5, 5), np.float32), GridSpec(1, 1, 5, 5, 2, 2))
    assert (tiles.maxima == 0).all()
    assert (tiles.offsets == 0).all()


def test_pooling_a_large_grid_takes_under_a_second():
    weights = np.zeros((6, 8, 512, 512), np.float32)
    begun = time.perf_counter()
    pool_tiles(weights, GridSpec.of(weights.shape))
    assert time.perf_counter() - begun < 1


def test_the_payload_names_sizes_tokens_colours_and_the_open_head():
    weights = attention(2, 3, 4, 5)
    header = header_of(pack_grid(weights, [*"abc", "\u202e"], list("vwxyz"), HeadChoice(1, 2)))
    assert (header["layers"], header["heads"], header["rows"], header["columns"]) == (2, 3, 4, 5)
    assert header["queryTokens"] == ["a", "b", "c", "\\u202e"]
    assert header["keyTokens"] == ["v", "w", "x", "y", "z"]
    assert header["selected"] == [1, 2]
    assert tuple(header["stops"]) == SEQUENTIAL
    assert header["arrays"] == [["uint16", 2 * 3 * 4 * 5]]


def test_a_pooled_payload_carries_the_places_of_the_maxima_and_stays_small():
    weights = attention(6, 8, 300, 300)
    payload = pack_grid(weights, ["q"] * 300, ["k"] * 300, None)
    assert header_of(payload)["arrays"] == [["uint16", 480_000]] * 2
    assert len(payload) < 2_000_000


def test_opening_a_head_leaves_the_digest_of_the_picture_alone():
    weights, tokens = attention(2, 2, 3, 3), list("abc")
    digests = {header_of(pack_grid(weights, tokens, tokens, choice))["digest"] for choice in (None, HeadChoice(0, 1))}
    assert len(digests) == 1
    assert header_of(pack_grid(weights, list("abd"), tokens, None))["digest"] not in digests
    assert header_of(pack_grid(weights[::-1], tokens, tokens, None))["digest"] not in digests


def test_tokens_that_do_not_fit_the_weights_are_a_mistake():
    with pytest.raises(AssertionError, match="one token for each"):
        pack_grid(attention(1, 1, 3, 3), list("ab"), list("abc"), None)


@pytest.mark.parametrize(
    "value",
    [None, "head", [], {}, {"layer": 0}, {"layer": "0", "head": 1}, {"layer": 2, "head": 0}, {"layer": 0, "head": -1}],
)
def test_what_names_no_head_is_no_choice(value):
    assert read_choice(value, layers=2, heads=3) is None


def test_a_choice_is_read():
    assert read_choice({"layer": 1, "head": 2}, layers=2, heads=3) == HeadChoice(1, 2)


def grid_page():
    """Runs inside AppTest."""
    import numpy as np
    import streamlit as st

    from viz.components.head_grid import HeadChoice, head_grid

    weights = np.ones((2, 2, 1, 1), np.float32)
    head_grid(weights, ["q"], ["k"], selected=HeadChoice(1, 0), on_open=lambda choice: st.text(str(choice)), key="grid")


def test_on_a_page_nothing_is_chosen_until_a_person_chooses():
    app = AppTest.from_function(grid_page).run()
    assert not app.exception
    assert not app.text
    assert header_of(app.get("bidi_component")[0].proto.bytes)["selected"] == [1, 0]
