import json
import struct
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from viz.components.decode_player import (
    SHOWN_CANDIDATES,
    Command,
    Exchange,
    PlayerData,
    PlayerState,
    clamp,
    next_command,
    pack_player,
    read_state,
)


@dataclass(frozen=True)
class FakeCandidate:
    token_id: int
    token: str
    log_prob: float


@dataclass(frozen=True)
class FakeStep:
    token_id: int
    token: str
    log_prob: float
    entropy: float
    candidates: tuple[FakeCandidate, ...]


@dataclass(frozen=True)
class FakeTrace:
    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    steps: tuple[FakeStep, ...]
    num_layers: int = 2

    def weights(self, site, layer):
        keys = len(self.source_tokens if site == "decoder.cross" else self.target_tokens)
        return torch.full((3, len(self.target_tokens), keys), (layer + 1) / 4)


def candidates():
    return tuple(FakeCandidate(100 + i, f"c{i}", -0.5 * (i + 1)) for i in range(20))


@pytest.fixture
def trace():
    steps = (
        FakeStep(101, "c1", -1.0, 0.7, candidates()),
        FakeStep(115, "c15", -8.0, 1.3, candidates()),
        FakeStep(999, "\u202e", -20.0, 2.0, candidates()),
    )
    return FakeTrace(("▁it", "</s>"), ("<s>", "▁er", "▁es"), steps)


@pytest.fixture
def data(trace):
    return PlayerData.from_trace(trace)


def header_of(payload):
    (length,) = struct.unpack("<I", payload[:4])
    return json.loads(payload[4 : 4 + length])


def test_a_trace_gives_tokens_steps_and_both_attentions_of_the_decoder(data, trace):
    assert data.source_tokens == trace.source_tokens
    assert data.target_tokens == trace.target_tokens
    assert data.cross.shape == (2, 3, 3, 2)
    assert data.self_.shape == (2, 3, 3, 3)
    assert (data.cross[0] == 0.25).all()
    assert (data.self_[1] == 0.5).all()


def test_a_step_keeps_ten_candidates_and_knows_which_of_them_was_taken(data):
    assert all(len(step.candidates) == SHOWN_CANDIDATES for step in data.steps)
    assert [step.chosen for step in data.steps] == [1, None, None]


def test_attention_of_another_shape_is_a_mistake(data):
    with pytest.raises(AssertionError, match="cross attention has shape"):
        replace(data, cross=data.cross[..., :1])
    with pytest.raises(AssertionError, match="one step for each target token"):
        replace(data, steps=data.steps[:2])


def test_the_payload_holds_what_is_shown(data):
    payload, command = pack_player(data, None, PlayerState(2, 1), None)
    header = header_of(payload)
    assert header["steps"][2]["token"] == "\\u202e"
    assert header["steps"][0]["candidates"][1] == ["c1", -1.0]
    assert header["arrays"] == [["uint16", 2 * 3 * 3 * 2], ["uint16", 2 * 3 * 3 * 3]]
    assert header["command"] == {"number": 1, "step": 2, "layer": 1}
    assert header["digest"] == command.digest


def test_a_step_or_layer_that_does_not_exist_becomes_the_nearest(data):
    assert clamp(PlayerState(99, 99), data) == PlayerState(2, 1)
    assert clamp(PlayerState(-1, -5), data) == PlayerState(0, 0)


def test_a_report_counts_only_for_the_decoding_and_the_command_it_speaks_of(data):
    command = Command(3, PlayerState(0, 0), "abc")
    report = {"step": 2, "layer": 1, "digest": "abc", "command": 3}
    assert read_state(report, data, command) == PlayerState(2, 1)
    for wrong in ({"digest": "abd"}, {"command": 2}, {"step": 3}, {"layer": -1}, {"step": "2"}, {"step": None}):
        assert read_state(report | wrong, data, command) is None
    for nothing in (None, [], "2"):
        assert read_state(nothing, data, command) is None


AT_0, AT_3, AT_5, AT_7 = (PlayerState(step, 0) for step in (0, 3, 5, 7))
FIRST = Command(1, AT_0, "abc")


def test_a_new_player_goes_where_the_page_asks():
    assert next_command(None, AT_5, None, "abc") == Command(1, AT_5, "abc")


def test_a_page_that_follows_the_player_never_sends_it_back():
    # The page still asks for 0, where it sent the player; then for 5, which was reported one run before 7.
    assert next_command(Exchange(FIRST, AT_0, None), AT_0, AT_5, "abc") == FIRST
    assert next_command(Exchange(FIRST, AT_0, AT_5), AT_5, AT_7, "abc") == FIRST
    assert next_command(Exchange(FIRST, AT_5, AT_7), AT_7, AT_7, "abc") == FIRST


def test_a_page_that_asks_for_something_else_is_obeyed():
    assert next_command(Exchange(FIRST, AT_5, AT_7), AT_3, AT_7, "abc") == Command(2, AT_3, "abc")


def test_another_decoding_starts_where_the_page_asks():
    assert next_command(Exchange(FIRST, AT_5, AT_7), AT_7, None, "xyz") == Command(2, AT_7, "xyz")


def test_a_player_that_was_left_out_for_a_run_starts_where_the_page_asks():
    assert next_command(Exchange(FIRST, None, None), AT_5, None, "abc") == Command(2, AT_5, "abc")


def test_the_payload_stays_the_same_while_only_the_player_moves(data):
    """Streamlit then sends about a kilobyte, and the browser has nothing to redraw."""
    payload, command = pack_player(data, None, PlayerState(0, 0), None)
    report = {"step": 2, "layer": 1, "digest": command.digest, "command": command.number}
    again, _ = pack_player(data, Exchange(command, PlayerState(0, 0), None), PlayerState(2, 1), report)
    assert again == payload


def test_weights_are_taken_from_a_trace_as_numpy(data):
    assert isinstance(data.cross, np.ndarray)
    assert data.cross.dtype == np.float32


def player_page():
    """Runs inside AppTest: the player at the step that the session holds, unless it is to be left out."""
    import numpy as np
    import streamlit as st

    from viz.components.decode_player import PlayerCandidate, PlayerData, PlayerStep, decode_player

    steps = tuple(PlayerStep("b", -0.5, 0.7, (PlayerCandidate("b", -0.5),), 0) for _ in range(4))
    data = PlayerData(("x",), ("a",) * 4, steps, np.ones((1, 2, 4, 1), np.float32), np.ones((1, 2, 4, 4), np.float32))
    if not st.session_state.get("left_out"):
        st.text(str(decode_player(data, step=st.session_state.get("asked", 0), layer=0, key="player")))


def test_on_a_page_the_same_wish_is_sent_once_and_a_new_one_again():
    app = AppTest.from_function(player_page).run()
    first = app.get("bidi_component")[0].proto.bytes
    assert header_of(first)["command"] == {"number": 1, "step": 0, "layer": 0}
    assert app.text[0].value == "None"
    assert app.run().get("bidi_component")[0].proto.bytes == first
    app.session_state["asked"] = 3
    assert header_of(app.run().get("bidi_component")[0].proto.bytes)["command"] == {"number": 2, "step": 3, "layer": 0}


def test_a_player_that_comes_back_to_a_page_goes_where_the_page_asks_again():
    app = AppTest.from_function(player_page).run()
    app.session_state["left_out"] = True
    assert not app.run().get("bidi_component")
    app.session_state["left_out"] = False
    assert header_of(app.run().get("bidi_component")[0].proto.bytes)["command"] == {"number": 2, "step": 0, "layer": 0}


def test_a_step_out_of_range_is_corrected_and_returned():
    app = AppTest.from_function(player_page)
    app.session_state["asked"] = 99
    app.run()
    assert app.text[0].value == "PlayerState(step=3, layer=0)"
    assert not app.exception
