"""The film: what is sent to the browser, what it may send back, and what a link or a person asks of the page."""

import math
import zlib
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model import Translator
from tests.viz import page_run
from tests.viz.sent import caught, unlinked
from viz.pages.decoding.film.component import (
    Draw,
    Force,
    PlayerCandidate,
    PlayerData,
    PlayerSpread,
    PlayerState,
    PlayerStep,
    clamp,
    decode_player,
    read_state,
    read_wish,
)
from viz.pages.decoding.film.data import film as film_of
from viz.pictures.component import Command
from viz.pictures.focus import FocusAxis
from viz.pictures.payload import encoded

CANDIDATES = tuple(PlayerCandidate(100 + i, f"c{i}", -0.5 * (i + 1)) for i in range(20))
STEPS = (
    PlayerStep(101, "c1", -1.0, 0.7, 2, CANDIDATES),
    PlayerStep(115, "c15", -8.0, 1.3, 16, CANDIDATES),
    PlayerStep(999, "\u202e", -20.0, 2.0, 444, CANDIDATES),
)
SPREAD = PlayerSpread(
    best=np.array([[-0.1, -2.5]] * 3),
    counts=np.array([[3, 0, 7]] * 3),
    centres=np.array([[-3, 0, -9.5]] * 3),
    vocab_size=500,
)


CROSS = np.full((2, 3, 3, 2), 0.25, np.float32)
SELF = np.tril(np.linspace(0.01, 0.99, 54, dtype=np.float32).reshape(2, 3, 3, 3))


@pytest.fixture
def data() -> PlayerData:
    return PlayerData.of(("▁it", "</s>"), ("<s>", "▁er", "▁es"), STEPS, CROSS, SELF, SPREAD)


def opened(app: AppTest) -> AppTest:
    return page_run.opened(app, "decoding", checkpoint="en-de")


def test_a_film_without_sinks_has_nothing_on_them_and_says_what_they_held(app: AppTest, translator: Translator) -> None:
    trace = translator.trace("Tom told me, that he read.")
    films = [film_of(trace, translator, sinks=sinks) for sinks in (True, False)]
    for name, site in (("cross", "decoder.cross"), ("own", "decoder.self")):
        whole, left = (np.frombuffer(zlib.decompress(getattr(film, name).tobytes()), np.uint8) for film in films)
        columns = len(trace.axis_tokens(site)[1])
        is_sink = np.isin(np.arange(columns), trace.sinks(site))
        # Two planes of bytes.
        whole, left = (bytes_.reshape(2, -1, columns) for bytes_ in (whole, left))
        assert whole[..., is_sink].any()
        assert not left[..., is_sink].any()
        np.testing.assert_array_equal(left[..., ~is_sink], whole[..., ~is_sink])
    opened(app)
    assert "Sinks are left out" not in " ".join(unlinked(one.value) for one in app.caption)
    page_run.healthy(app.toggle(key="sinks").set_value(False).run())
    assert "Sinks are left out: their columns are 0" in " ".join(unlinked(one.value) for one in app.caption)
    assert app.query_params["special"] == "False"


def test_a_branch_stands_beside_the_models_own_translation_with_the_words_that_differ(app: AppTest) -> None:
    app.query_params.update({"branches": "0-2-t40", "branch": "1"})
    opened(app)
    change = next(element.proto.body for element in app.get("html") if "Branch 1" in element.proto.body)
    assert "The model’s own" in change
    assert "<del" in change or "<ins" in change
    page_run.healthy(app.selectbox(key="branch").set_value(0).run())
    assert not [element for element in app.get("html") if "Branch 1" in element.proto.body]


def test_what_does_not_exist_becomes_the_nearest(data: PlayerData) -> None:
    far = PlayerState(99, 99, 99, (1, 99, 1), 99, 9_999, 9_999, 999)
    assert clamp(far, data) == PlayerState(2, 1, 2, (1,), 20, 500, 500, 100)
    low = PlayerState(-1, -5, candidates=0, temperature=0, top_p=0)
    assert clamp(low, data) == PlayerState(0, 0, candidates=1, temperature=10, top_p=1)
    assert clamp(PlayerState(0, head=2, also=(0, -1, 1, 3)), data).also == (0, 1)


def test_a_report_counts_only_for_the_decoding_and_the_command_it_speaks_of(data: PlayerData) -> None:
    command = Command(3, PlayerState(0), "abc")
    state = PlayerState(2, 1, 0, (2,), 5, 80, 3, 95)
    report = {**encoded(state), "digest": "abc", "command": 3}
    read = partial(read_state, data)
    assert command.answer(report, read) == state
    # Of 500 tokens as many as there are.
    assert command.answer(report | {"topK": 500}, read) == replace(state, top_k=500)
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
    assert read_wish(draw | {"topK": 500}, data) == Draw(2, 50, 500, 100)
    changes: tuple[dict[str, object], ...] = (
        {"step": 3}, {"step": True}, {"step": None}, {"digest": "abc"}, {"tokenId": 5}, {"tokenId": "107"},
    )  # fmt: skip
    for change in changes:
        assert read_wish(force | change, data) is None, change
    changes = ({"temperature": 0}, {"topK": None}, {"topP": 101}, {"topK": 2.0}, {"topK": 501})
    for change in changes:
        assert read_wish(draw | change, data) is None, change
    assert read_wish(None, data) is None


AT_0 = PlayerState(0)


def sent(data: PlayerData, asked: PlayerState = AT_0) -> tuple[dict[str, Any], list[bytes]]:
    """What the browser unpacks: the header; bytes of both attentions and of the distributions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "session_state", {})
        shown = caught(patch)
        decode_player(data, asked, key="player", name="film", note="", head_names=((), ()), asks=False)
    return shown[0].header, [zlib.decompress(array.tobytes()) for array in shown[0].arrays]


def spread_of(steps: int) -> PlayerSpread:
    """Invented distributions of so many steps."""
    best, counts, centres = (
        np.resize(numbers, (steps, numbers.shape[1])) for numbers in (SPREAD.best, SPREAD.counts, SPREAD.centres)
    )
    return replace(SPREAD, best=best, counts=counts, centres=centres)


def test_the_film_of_a_translation_has_both_its_attentions(translator: Translator) -> None:
    trace = translator.trace("The animal was tired.")
    made = film_of(trace, translator)
    assert (made.source_tokens, made.target_tokens) == (trace.source_tokens, trace.target_tokens)
    cross, own = (
        np.stack([trace.weights(site, layer).numpy() for layer in range(2)])
        for site in ("decoder.cross", "decoder.self")
    )
    by_hand = PlayerData.of(
        trace.source_tokens, trace.target_tokens, made.steps, cross, own, spread_of(len(made.steps))
    )
    np.testing.assert_array_equal(made.cross, by_hand.cross)
    np.testing.assert_array_equal(made.own, by_hand.own)
    assert made.titles == by_hand.titles
    # A step stands for the token that it writes, which comes after the one that it reads.
    assert made.axes == (FocusAxis("target", ahead=1), FocusAxis("source"), FocusAxis("target"))


def test_the_payload_holds_what_is_shown(data: PlayerData) -> None:
    asked = PlayerState(2, 1, head=2, also=(0,), candidates=7, temperature=80, top_k=5, top_p=90)
    header, (cross, self_, numbers, _samples) = sent(data, asked)
    assert header["steps"][2]["token"] == "\\u202e"
    assert (header["steps"][2]["chosen"], header["steps"][2]["rank"]) == (None, 444)
    assert header["steps"][0]["candidates"][1] == [101, "c1", -1.0]
    assert header["command"] == {
        "number": 1, "step": 2, "layer": 1, "head": 2, "also": [0], "candidates": 7, "temperature": 80, "topK": 5,
        "topP": 90,
    }  # fmt: skip
    assert (header["digest"], header["name"]) == (data.digest, "film")
    assert (len(cross), len(self_)) == (2 * CROSS.size, 2 * SELF.size)
    assert np.frombuffer(numbers, "<f4").tolist() == pytest.approx([-0.1, -2.5] * 3 + [3, 0, 7] * 3 + [-3, 0, -9.5] * 3)


def test_a_token_that_the_rules_forbid_travels_without_a_number() -> None:
    steps = (replace(STEPS[0], log_prob=-math.inf), *STEPS[1:])
    forbidden = PlayerData.of(("▁it", "</s>"), ("<s>", "▁er", "▁es"), steps, CROSS, SELF, SPREAD)
    assert [step["logProb"] for step in sent(forbidden)[0]["steps"]] == [None, -8.0, -20.0]


def test_weights_travel_as_cells_low_bytes_first(data: PlayerData) -> None:
    from viz.pictures.tiles.codes import code

    _, self_, *_others = sent(data)[1]
    low, high = np.frombuffer(self_, np.uint8).reshape(2, *SELF.shape).astype(np.uint16)
    assert np.array_equal(low | high << 8, code(SELF))
