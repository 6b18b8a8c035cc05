"""What the film may send back, and that neither it nor the page undoes what the other did."""

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.viz.pages.decoding.film.invented import header_of
from viz.components.player.exchange import Command, Exchange
from viz.pages.decoding.film.component import (
    Draw,
    Force,
    PlayerState,
    clamp,
    pack_player,
    read_state,
    read_wish,
)
from viz.pages.decoding.film.payload import PlayerData

CROSS = np.full((2, 3, 3, 2), 0.25, np.float32)
SELF = np.tril(np.full((2, 3, 3, 3), 0.5, np.float32))


def test_what_does_not_exist_becomes_the_nearest(data: PlayerData) -> None:
    far = PlayerState(99, 99, 99, (1, 99, 1), 99, 9_999, 9_999, 999)
    assert clamp(far, data) == PlayerState(2, 1, 2, (1,), 20, 500, 500, 100)
    low = PlayerState(-1, -5, candidates=0, temperature=0, top_p=0)
    assert clamp(low, data) == PlayerState(0, 0, candidates=1, temperature=10, top_p=1)


def test_a_report_counts_only_for_the_decoding_and_the_command_it_speaks_of(data: PlayerData) -> None:
    command = Command(3, PlayerState(0), "abc")
    state = PlayerState(2, 1, 0, (2,), 5, 80, 3, 95)
    report = {**vars(state), "also": [2], "digest": "abc", "command": 3}
    assert read_state(report, data, command) == state
    wrong = (
        *({"digest": "abd"}, {"command": 2}, {"step": 3}, {"layer": -1}, {"step": "2"}, {"step": None}, {"step": True}),
        *({"head": 3}, {"also": [0]}, {"also": [7]}, {"also": None}, {"also": ["1"]}),
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


def test_the_payload_stays_the_same_while_only_the_player_moves(data: PlayerData) -> None:
    """Streamlit then sends about a kilobyte, and the browser has nothing to redraw."""
    payload, command = pack_player(data, None, PlayerState(0), None, "film")
    moved = PlayerState(2, 1, also=(1,))
    report = {**vars(moved), "also": [1], "digest": command.digest, "command": command.number}
    again, _ = pack_player(data, Exchange(command, PlayerState(0), None), moved, report, "film")
    assert again == payload


def test_the_player_is_told_what_heads_are_for(data: PlayerData) -> None:
    names = ("L1 H1 · follows antecedents 0.72",), ("L1 H1",)
    payload, _ = pack_player(data, None, PlayerState(0), None, "film", head_names=names)
    assert header_of(payload)["headNames"] == [list(of_attention) for of_attention in names]


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
