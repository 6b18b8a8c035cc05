"""What the film may send back, and that neither it nor the page undoes what the other did."""

from functools import partial

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.viz.pages.decoding.film.invented import header_of
from tests.viz.sent import caught
from viz.pages.decoding.film.component import (
    Draw,
    Force,
    PlayerData,
    PlayerState,
    clamp,
    decode_player,
    read_state,
    read_wish,
)
from viz.pictures.payload import encoded
from viz.pictures.player.exchange import Command

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
    report = {**encoded(state), "digest": "abc", "command": 3}
    read = partial(read_state, data)
    assert command.answer(report, read) == state
    wrong = (
        *({"digest": "abd"}, {"command": 2}, {"step": 3}, {"layer": -1}, {"step": "2"}, {"step": None}, {"step": True}),
        *({"head": 3}, {"also": [0]}, {"also": [7]}, {"also": None}, {"also": ["1"]}),
        *({"candidates": 21}, {"temperature": 9}, {"topK": 501}, {"topP": 0}, {"temperature": 80.5}),
    )
    for change in wrong:
        assert command.answer(report | change, read) is None, change
    nothings: tuple[object, ...] = (None, [], "2")
    for nothing in nothings:
        assert command.answer(nothing, read) is None


def test_a_wish_counts_only_if_it_can_be_fulfilled(data: PlayerData) -> None:
    force = {"kind": "force", "step": 1, "tokenId": 107, "digest": data.digest}
    assert read_wish(force, data) == Force(1, 107)
    draw = {"kind": "draw", "step": 2, "temperature": 50, "topK": 0, "topP": 100, "digest": data.digest}
    assert read_wish(draw, data) == Draw(2, 50, 0, 100)
    changes: tuple[dict[str, object], ...] = (
        {"step": 3},
        {"step": True},
        {"step": None},
        {"digest": "abc"},
        {"tokenId": 5},
        {"tokenId": "107"},
    )
    for change in changes:
        assert read_wish(force | change, data) is None, change
    changes = ({"temperature": 0}, {"topK": None}, {"topP": 101}, {"topK": 2.0})
    for change in changes:
        assert read_wish(draw | change, data) is None, change
    assert read_wish(None, data) is None


def test_the_payload_stays_the_same_while_only_the_player_moves(
    data: PlayerData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamlit then sends about a kilobyte, and the browser has nothing to redraw."""
    session: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", session)
    shown, moved = caught(monkeypatch), PlayerState(2, 1, also=(1,))
    decode_player(data, PlayerState(0), key="player", name="film")
    session["player"] = {"view": {**encoded(moved), "digest": data.digest, "command": 1}}
    decode_player(data, moved, key="player", name="film")
    assert shown[0].header == shown[1].header


def test_the_player_is_told_what_heads_are_for(data: PlayerData, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("L1 H1 · follows antecedents 0.72",), ("L1 H1",)
    monkeypatch.setattr(st, "session_state", {})
    shown = caught(monkeypatch)
    decode_player(data, PlayerState(0), key="player", name="film", head_names=names)
    assert shown[0].header["headNames"] == [list(of_attention) for of_attention in names]


def player_page() -> None:
    """Runs inside AppTest: the player at the step that the session holds, unless it is to be left out."""
    import numpy as np
    import streamlit as st

    from viz.pages.decoding.film.component import (
        PlayerCandidate,
        PlayerData,
        PlayerSpread,
        PlayerState,
        PlayerStep,
        decode_player,
    )

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
