import json
import math
import struct
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from viz.pages.decoding.film.component import (
    Command,
    Draw,
    Exchange,
    Force,
    PlayerState,
    clamp,
    next_command,
    pack_player,
    read_state,
    read_wish,
)
from viz.pages.decoding.film.payload import PlayerCandidate, PlayerData, PlayerSpread, PlayerStep

CANDIDATES = tuple(PlayerCandidate(100 + i, f"c{i}", -0.5 * (i + 1)) for i in range(20))
STEPS = (
    PlayerStep(101, "c1", -1.0, 0.7, 2, CANDIDATES),
    PlayerStep(115, "c15", -8.0, 1.3, 16, CANDIDATES),
    PlayerStep(999, "\u202e", -20.0, 2.0, 444, CANDIDATES),
)
CROSS = np.full((2, 3, 3, 2), 0.25, np.float32)
SELF = np.tril(np.full((2, 3, 3, 3), 0.5, np.float32))
SPREAD = PlayerSpread(
    best=np.array([[-0.1, -2.5]] * 3),
    counts=np.array([[3, 0, 7]] * 3),
    centres=np.array([[-3, 0, -9.5]] * 3),
    vocab_size=500,
)


@pytest.fixture
def data() -> PlayerData:
    return PlayerData.of(("▁it", "</s>"), ("<s>", "▁er", "▁es"), STEPS, CROSS, SELF, SPREAD)


def header_of(payload: bytes) -> dict[str, Any]:
    (length,) = struct.unpack("<I", payload[:4])
    return json.loads(payload[4 : 4 + length])


def arrays_of(payload: bytes) -> list[bytes]:
    """What the browser unpacks: bytes of both attentions and of the distributions."""
    (length,) = struct.unpack("<I", payload[:4])
    start, found = 4 + length, []
    for _, size in header_of(payload)["arrays"]:
        found.append(zlib.decompress(payload[start : start + size]))
        start += size
    return found


def test_a_step_knows_which_of_its_candidates_was_taken() -> None:
    assert [step.chosen for step in STEPS] == [1, 15, None]


def test_what_does_not_fit_together_is_a_mistake() -> None:
    for steps, cross, own, spread, message in (
        (STEPS, CROSS[..., :1], SELF, SPREAD, "cross attention has shape"),
        (STEPS, CROSS, SELF[:, :2], SPREAD, "self-attention has shape"),
        (STEPS[:2], CROSS, SELF, SPREAD, "one step for each target token"),
        (STEPS, CROSS, SELF, replace(SPREAD, best=SPREAD.best[:2]), "one distribution a step"),
    ):
        with pytest.raises(AssertionError, match=message):
            PlayerData.of(("▁it", "</s>"), ("<s>", "▁er", "▁es"), steps, cross, own, spread)


def test_the_payload_holds_what_is_shown(data: PlayerData) -> None:
    asked = PlayerState(2, 1, head=2, also=(0,), whose="in", candidates=7, temperature=80, top_k=5, top_p=90)
    payload, command = pack_player(data, None, asked, None, "film")
    header = header_of(payload)
    assert header["steps"][2]["token"] == "\\u202e"
    assert (header["steps"][2]["chosen"], header["steps"][2]["rank"]) == (None, 444)
    assert header["steps"][0]["candidates"][1] == [101, "c1", -1.0]
    assert header["command"] == {
        "number": 1,
        "step": 2,
        "layer": 1,
        "head": 2,
        "also": [0],
        "whose": "in",
        "candidates": 7,
        "temperature": 80,
        "top_k": 5,
        "top_p": 90,
    }
    assert (header["digest"], header["name"]) == (command.digest, "film")
    cross, self_, numbers = arrays_of(payload)
    assert (len(cross), len(self_)) == (2 * CROSS.size, 2 * SELF.size)
    assert np.frombuffer(numbers, "<f4").tolist() == pytest.approx([-0.1, -2.5] * 3 + [3, 0, 7] * 3 + [-3, 0, -9.5] * 3)


def test_a_token_that_the_rules_forbid_travels_without_a_number() -> None:
    steps = (replace(STEPS[0], log_prob=-math.inf), *STEPS[1:])
    forbidden = PlayerData.of(("▁it", "</s>"), ("<s>", "▁er", "▁es"), steps, CROSS, SELF, SPREAD)
    payload, _ = pack_player(forbidden, None, PlayerState(0, 0), None, "film")
    assert [step["logProb"] for step in header_of(payload)["steps"]] == [None, -8.0, -20.0]


def test_weights_travel_as_cells_low_bytes_first(data: PlayerData) -> None:
    from viz.core.tiles import code

    _, self_, _ = arrays_of(pack_player(data, None, PlayerState(0), None, "film")[0])
    low, high = np.frombuffer(self_, np.uint8).reshape(2, *SELF.shape).astype(np.uint16)
    assert np.array_equal(low | high << 8, code(SELF))


def test_what_does_not_exist_becomes_the_nearest(data: PlayerData) -> None:
    far = PlayerState(99, 99, 99, (1, 99, 1), "in", 99, 9_999, 9_999, 999)
    assert clamp(far, data) == PlayerState(2, 1, 2, (1,), "in", 20, 500, 500, 100)
    low = PlayerState(-1, -5, candidates=0, temperature=0, top_p=0)
    assert clamp(low, data) == PlayerState(0, 0, candidates=1, temperature=10, top_p=1)


def test_a_report_counts_only_for_the_decoding_and_the_command_it_speaks_of(data: PlayerData) -> None:
    command = Command(3, PlayerState(0), "abc")
    state = PlayerState(2, 1, 0, (2,), "in", 5, 80, 3, 95)
    report = {**vars(state), "also": [2], "digest": "abc", "command": 3}
    assert read_state(report, data, command) == state
    wrong = (
        *({"digest": "abd"}, {"command": 2}, {"step": 3}, {"layer": -1}, {"step": "2"}, {"step": None}, {"step": True}),
        *({"head": 3}, {"also": [0]}, {"also": [7]}, {"also": None}, {"also": ["1"]}, {"whose": "both"}),
        *({"candidates": 21}, {"temperature": 9}, {"top_k": 501}, {"top_p": 0}, {"temperature": 80.5}),
    )
    for change in wrong:
        assert read_state(report | change, data, command) is None, change
    nothings: tuple[object, ...] = (None, [], "2")
    for nothing in nothings:
        assert read_state(nothing, data, command) is None


def test_a_wish_counts_only_if_it_can_be_fulfilled(data: PlayerData) -> None:
    force = {"kind": "force", "step": 1, "token_id": 107, "digest": data.digest}
    assert read_wish(force, data) == Force(1, 107)
    draw = {"kind": "draw", "step": 2, "temperature": 50, "top_k": 0, "top_p": 100, "digest": data.digest}
    assert read_wish(draw, data) == Draw(2, 50, 0, 100)
    changes: tuple[dict[str, object], ...] = (
        {"step": 3},
        {"step": True},
        {"step": None},
        {"digest": "abc"},
        {"token_id": 5},
        {"token_id": "107"},
    )
    for change in changes:
        assert read_wish(force | change, data) is None, change
    changes = ({"temperature": 0}, {"top_k": None}, {"top_p": 101}, {"top_k": 2.0})
    for change in changes:
        assert read_wish(draw | change, data) is None, change
    assert read_wish(None, data) is None


AT_0, AT_3, AT_5, AT_7 = (PlayerState(step) for step in (0, 3, 5, 7))
FIRST = Command(1, AT_0, "abc")


def test_a_new_player_goes_where_the_page_asks() -> None:
    assert next_command(None, AT_5, None, "abc") == Command(1, AT_5, "abc")


def test_a_page_that_follows_the_player_never_sends_it_back() -> None:
    # The page still asks for 0, where it sent the player; then for 5, which was reported one run before 7.
    assert next_command(Exchange(FIRST, AT_0, None), AT_0, AT_5, "abc") == FIRST
    assert next_command(Exchange(FIRST, AT_0, AT_5), AT_5, AT_7, "abc") == FIRST
    assert next_command(Exchange(FIRST, AT_5, AT_7), AT_7, AT_7, "abc") == FIRST


def test_a_page_that_asks_for_something_else_is_obeyed() -> None:
    assert next_command(Exchange(FIRST, AT_5, AT_7), AT_3, AT_7, "abc") == Command(2, AT_3, "abc")


def test_another_decoding_starts_where_the_page_asks() -> None:
    assert next_command(Exchange(FIRST, AT_5, AT_7), AT_7, None, "xyz") == Command(2, AT_7, "xyz")


def test_a_player_that_was_left_out_for_a_run_starts_where_the_page_asks() -> None:
    assert next_command(Exchange(FIRST, None, None), AT_5, None, "abc") == Command(2, AT_5, "abc")


def test_the_payload_stays_the_same_while_only_the_player_moves(data: PlayerData) -> None:
    """Streamlit then sends about a kilobyte, and the browser has nothing to redraw."""
    payload, command = pack_player(data, None, PlayerState(0), None, "film")
    moved = PlayerState(2, 1, also=(1,))
    report = {**vars(moved), "also": [1], "digest": command.digest, "command": command.number}
    again, _ = pack_player(data, Exchange(command, PlayerState(0), None), moved, report, "film")
    assert again == payload


def player_page() -> None:
    """Runs inside AppTest: the player at the step that the session holds, unless it is to be left out."""
    import numpy as np
    import streamlit as st

    from viz.pages.decoding.film.component import PlayerState, decode_player
    from viz.pages.decoding.film.payload import PlayerCandidate, PlayerData, PlayerSpread, PlayerStep

    steps = tuple(PlayerStep(7, "b", -0.5, 0.7, 1, (PlayerCandidate(7, "b", -0.5),)) for _ in range(4))
    numbers = np.zeros((4, 1), np.float32)
    spread = PlayerSpread(best=numbers, counts=numbers, centres=numbers, vocab_size=9)
    weights = np.ones((1, 2, 4, 1), np.float32), np.ones((1, 2, 4, 4), np.float32)
    data = PlayerData.of(("x",), ("a",) * 4, steps, *weights, spread)
    if not st.session_state.get("left_out"):
        asked = PlayerState(st.session_state.get("asked", 0))
        st.text(str(decode_player(data, asked, key="player", name="film")))


def command_of(app: AppTest) -> tuple[int, int]:
    command = header_of(app.get("bidi_component")[0].proto.bytes)["command"]
    return command["number"], command["step"]


def test_on_a_page_the_same_wish_is_sent_once_and_a_new_one_again() -> None:
    app = AppTest.from_function(player_page).run()
    first = app.get("bidi_component")[0].proto.bytes
    assert command_of(app) == (1, 0)
    assert app.text[0].value == "None"
    assert app.run().get("bidi_component")[0].proto.bytes == first
    app.session_state["asked"] = 3
    assert command_of(app.run()) == (2, 3)


def test_a_player_that_comes_back_to_a_page_goes_where_the_page_asks_again() -> None:
    app = AppTest.from_function(player_page).run()
    app.session_state["left_out"] = True
    assert not app.run().get("bidi_component")
    app.session_state["left_out"] = False
    assert command_of(app.run()) == (2, 0)


def test_a_step_out_of_range_is_corrected_and_returned() -> None:
    app = AppTest.from_function(player_page)
    app.session_state["asked"] = 99
    app.run()
    assert app.text[0].value.startswith("PlayerState(step=3, layer=0")
    assert not app.exception
