"""What the film sends to the browser."""

import math
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import streamlit as st

from model import Translator
from tests.viz.pages.decoding.film.invented import SPREAD, STEPS
from tests.viz.sent import caught
from viz.pages.decoding.film.component import PlayerData, PlayerSpread, PlayerState, decode_player
from viz.pages.decoding.film.data import film

CROSS = np.full((2, 3, 3, 2), 0.25, np.float32)
SELF = np.tril(np.full((2, 3, 3, 3), 0.5, np.float32))


AT_0 = PlayerState(0)


def sent(data: PlayerData, asked: PlayerState = AT_0) -> tuple[dict[str, Any], list[bytes]]:
    """What the browser unpacks: the header; bytes of both attentions and of the distributions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "session_state", {})
        shown = caught(patch)
        decode_player(data, asked, key="player", name="film")
    return shown[0].header, [zlib.decompress(array.tobytes()) for array in shown[0].arrays]


def spread_of(steps: int) -> PlayerSpread:
    """Invented distributions of so many steps."""
    best, counts, centres = (
        np.resize(numbers, (steps, numbers.shape[1])) for numbers in (SPREAD.best, SPREAD.counts, SPREAD.centres)
    )
    return replace(SPREAD, best=best, counts=counts, centres=centres)


def test_a_step_knows_which_of_its_candidates_was_taken() -> None:
    assert [step.chosen for step in STEPS] == [1, 15, None]


def test_the_film_of_a_translation_has_both_its_attentions(translator: Translator) -> None:
    trace = translator.trace("The animal was tired.")
    made = film(trace, translator)
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
    asked = PlayerState(2, 1, head=2, also=(0,), candidates=7, temperature=80, top_k=5, top_p=90)
    header, (cross, self_, numbers) = sent(data, asked)
    assert header["steps"][2]["token"] == "\\u202e"
    assert (header["steps"][2]["chosen"], header["steps"][2]["rank"]) == (None, 444)
    assert header["steps"][0]["candidates"][1] == [101, "c1", -1.0]
    assert header["command"] == {
        "number": 1,
        "step": 2,
        "layer": 1,
        "head": 2,
        "also": [0],
        "candidates": 7,
        "temperature": 80,
        "topK": 5,
        "topP": 90,
    }
    assert (header["digest"], header["name"]) == (data.digest, "film")
    assert (len(cross), len(self_)) == (2 * CROSS.size, 2 * SELF.size)
    assert np.frombuffer(numbers, "<f4").tolist() == pytest.approx([-0.1, -2.5] * 3 + [3, 0, 7] * 3 + [-3, 0, -9.5] * 3)


def test_a_token_that_the_rules_forbid_travels_without_a_number() -> None:
    steps = (replace(STEPS[0], log_prob=-math.inf), *STEPS[1:])
    forbidden = PlayerData.of(("▁it", "</s>"), ("<s>", "▁er", "▁es"), steps, CROSS, SELF, SPREAD)
    assert [step["logProb"] for step in sent(forbidden)[0]["steps"]] == [None, -8.0, -20.0]


def test_weights_travel_as_cells_low_bytes_first(data: PlayerData) -> None:
    from viz.pictures.tiles.codes import code

    _, self_, _ = sent(data)[1]
    low, high = np.frombuffer(self_, np.uint8).reshape(2, *SELF.shape).astype(np.uint16)
    assert np.array_equal(low | high << 8, code(SELF))
