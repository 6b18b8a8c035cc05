import json
import struct

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from viz.components.head_grid import HeadChoice, Ranking, TileFigure, pack_grid, read_choice
from viz.components.head_tiles import FIRST_CELL, FIRST_THOUSANDTH, Tiles
from viz.theme import SEQUENTIAL

FIGURE = TileFigure("Entropy", np.array([[1.0, np.nan], [0.5, 0.0]]), 2, "bits", "What it means.")


def tiles_of(*shape):
    weights = np.random.default_rng(0).random(shape, dtype=np.float32)
    return Tiles.of(shape, weights / weights.sum(-1, keepdims=True))


def header_of(payload):
    (length,) = struct.unpack("<I", payload[:4])
    return json.loads(payload[4 : 4 + length])


def test_the_payload_names_sizes_tokens_colours_and_the_open_head():
    tiles = tiles_of(2, 3, 4, 5)
    header = header_of(pack_grid(tiles, [*"abc", "\u202e"], list("vwxyz"), HeadChoice(1, 2), None, None))
    assert (header["layers"], header["heads"], header["rows"], header["columns"]) == (2, 3, 4, 5)
    assert header["queryTokens"] == ["a", "b", "c", "\\u202e"]
    assert header["keyTokens"] == ["v", "w", "x", "y", "z"]
    assert header["selected"] == [1, 2]
    assert tuple(header["stops"]) == SEQUENTIAL
    assert (header["firstCell"], header["firstThousandth"]) == (FIRST_CELL.tolist(), FIRST_THOUSANDTH.tolist())
    assert header["arrays"] == [["uint8", len(tiles.deflated)]]
    assert (header["ranked"], header["figure"], header["notes"]) == (None, None, [])


def test_opening_ranking_and_figures_leave_the_digest_of_the_picture_alone():
    tiles, tokens = tiles_of(2, 2, 3, 3), list("abc")
    ranking = Ranking((HeadChoice(1, 0), HeadChoice(0, 1)), "Ranked.")
    payloads = [
        pack_grid(tiles, tokens, tokens, None, None, None),
        pack_grid(tiles, tokens, tokens, HeadChoice(0, 1), FIGURE, ranking),
    ]
    assert {header_of(payload)["digest"] for payload in payloads} == {tiles.digest}


def test_the_payload_says_what_stands_where_and_under_each_tile():
    ranking = Ranking((HeadChoice(1, 0), HeadChoice(0, 1)), "Ranked.")
    header = header_of(pack_grid(tiles_of(2, 2, 3, 3), "abc", "abc", None, FIGURE, ranking))
    assert header["ranked"] == [2, 1]
    texts, bars = ["1.00", "–", "0.50", "0.00"], [1.0, 0.0, 0.5, 0.0]
    assert header["figure"] == {"name": "Entropy", "unit": "bits", "texts": texts, "bars": bars}
    assert header["notes"] == ["What it means.", "Ranked."]


def test_bars_of_nothing_but_zeros_are_empty():
    assert TileFigure("Same token", np.zeros((1, 2)), 2, "", "").bars() == [0.0, 0.0]


def test_tokens_or_figures_that_do_not_fit_the_tiles_are_a_mistake():
    with pytest.raises(AssertionError, match="one token for each"):
        pack_grid(tiles_of(1, 1, 3, 3), "ab", "abc", None, None, None)
    with pytest.raises(AssertionError, match="one figure for each"):
        pack_grid(tiles_of(1, 1, 3, 3), "abc", "abc", None, FIGURE, None)


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
    from viz.components.head_tiles import Tiles

    tiles = Tiles.of((2, 2, 1, 1), np.ones((2, 2, 1, 1), np.float32))
    head_grid(tiles, ["q"], ["k"], selected=HeadChoice(1, 0), on_open=lambda choice: st.text(str(choice)), key="grid")


def test_on_a_page_nothing_is_chosen_until_a_person_chooses():
    app = AppTest.from_function(grid_page).run()
    assert not app.exception
    assert not app.text
    assert header_of(app.get("bidi_component")[0].proto.bytes)["selected"] == [1, 0]
