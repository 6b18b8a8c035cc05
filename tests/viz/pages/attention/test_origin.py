"""The story of one row: which keys are drawn, its numbers and sentences; the tab with its switches and its proof."""

import json
import math
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model.analysis.metrics.derived_row import derive_row
from model.nn.attention import AttentionInputs
from model.nn.masks import AttentionMask
from tests.paths import ROOT
from tests.viz.reading import traced
from viz.access import models, traces
from viz.core.numbers import TOLERANCE, scientific
from viz.pages.attention.origin.component import pack_story, read_key
from viz.pages.attention.origin.story import MAX_COLUMNS, Origin, changed, shown_keys, steps, story, strongest, summary
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection

VIEW = "Where a weight comes from"
HOSTILE = "</script><b>x</b>"


def origin_of(
    *,
    keys: int = 6,
    row: int = 3,
    causal: bool = True,
    scaled: bool = True,
    masked: bool = True,
    followed: int = 0,
    site: str = "decoder.self",
    tokens: list[str] | None = None,
) -> Origin:
    generator = torch.Generator().manual_seed(keys)
    query, key, value = (torch.randn(2, keys, 4, generator=generator) for _ in range(3))
    mask = AttentionMask(num_queries=keys, num_keys=keys, causal=causal)
    inputs = AttentionInputs(query=query, key=key, value=value, mask=mask, scale=0.5)
    parts = torch.randn(2, 8, generator=generator).numpy()
    is_real = scaled and masked
    return Origin(
        query_token="▁it",
        key_tokens=tokens or [f"▁{place}" for place in range(keys)],
        real=derive_row(inputs, 1, row, scaled=True, masked=True),
        other=None if is_real else derive_row(inputs, 1, row, scaled=scaled, masked=masked),
        followed=followed,
        site=site,
        head=1,
        parts=parts,
        other_part=None if is_real else parts[1] * 2,
    )


def header_of(payload: bytes) -> dict[str, Any]:
    return json.loads(payload[4 : 4 + int.from_bytes(payload[:4], "little")])


# ---- which keys are drawn ----


def test_a_short_row_shows_every_key_and_sums_up_nothing() -> None:
    told: dict[str, Any] = story(origin_of())
    assert [column["key"] for column in told["columns"]] == list(range(6))
    assert not any(column["gap"] for column in told["columns"])
    assert (told["restCount"], told["note"], told["restDots"], told["restWeighted"]) == (0, "", None, None)


def test_one_key_more_is_drawn_rather_than_summed_up() -> None:
    assert len(shown_keys(origin_of(keys=MAX_COLUMNS + 1))) == MAX_COLUMNS + 1
    assert len(shown_keys(origin_of(keys=MAX_COLUMNS + 2))) == MAX_COLUMNS


def test_a_long_row_shows_the_strongest_keys_in_reading_order() -> None:
    origin = origin_of(keys=100, row=99)
    weights = origin.real.weights.numpy()
    expected = sorted(np.argsort(-weights)[:MAX_COLUMNS])
    assert shown_keys(replace(origin, followed=strongest(origin.real))) == expected


def test_the_followed_key_is_drawn_however_weak() -> None:
    origin = origin_of(keys=100, row=99)
    weakest = int(origin.real.weights.argmin())
    origin = replace(origin, followed=weakest)
    assert weakest in shown_keys(origin)
    assert len(shown_keys(origin)) == MAX_COLUMNS
    told: dict[str, Any] = story(origin)
    assert told["columns"][told["followed"]]["key"] == weakest


def test_with_a_switch_thrown_keys_that_are_strong_in_either_row_are_drawn() -> None:
    origin = origin_of(keys=100, row=30, masked=False)
    assert origin.other is not None
    assert {strongest(origin.real), strongest(origin.other)} <= set(shown_keys(origin))
    assert any(key > 30 for key in shown_keys(origin))


def test_drawn_and_summed_up_keys_make_the_whole_row() -> None:
    origin = origin_of(keys=100, row=99)
    told: dict[str, Any] = story(origin)
    assert told["restCount"] == 100 - MAX_COLUMNS
    assert sum(told["real"]["weights"]) + told["real"]["restWeight"] == pytest.approx(1.0, abs=1e-5)
    assert sum(told["real"]["shares"]) + told["real"]["restShares"] == pytest.approx(
        told["real"]["sharesSum"], rel=1e-4
    )
    whole = np.sum(told["weighted"], axis=0) + told["restWeighted"]
    np.testing.assert_allclose(whole, told["output"], atol=1e-5)
    left_out = sorted(set(range(100)) - {column["key"] for column in told["columns"]})
    low, high = told["restDots"]
    assert (low, high) == pytest.approx(
        (float(origin.real.dots[left_out].min()), float(origin.real.dots[left_out].max()))
    )
    gaps = [column["key"] for column in told["columns"] if column["gap"]]
    keys = [column["key"] for column in told["columns"]]
    assert gaps == [key for key in keys if key and key - 1 not in keys]


# ---- numbers and sentences ----


def test_the_numbers_can_be_followed_by_hand() -> None:
    told: dict[str, Any] = story(origin_of(followed=2))
    dots, real = told["dots"], told["real"]
    assert sum(q * k for q, k in zip(told["q"], told["k"][2], strict=True)) == pytest.approx(dots[2], abs=1e-4)
    assert sum(told["products"][2]) == pytest.approx(dots[2], abs=1e-4)
    assert real["scaled"] == pytest.approx([dot * 0.5 for dot in dots], abs=1e-4)
    assert real["cut"] == [False] * 4 + [True] * 2
    allowed = [math.exp(score) for score in real["scaled"][:4]]
    assert real["weights"] == pytest.approx([score / sum(allowed) for score in allowed] + [0, 0], abs=1e-4)
    assert told["weighted"][1] == pytest.approx([real["weights"][1] * v for v in told["values"][1]], abs=1e-4)


def test_without_the_mask_the_keys_ahead_are_marked_and_told() -> None:
    origin = origin_of(masked=False)
    told: dict[str, Any] = story(origin)
    assert told["ahead"] == [False] * 4 + [True] * 2
    assert told["other"]["cut"] == [False] * 6
    assert told["real"]["cut"] == [False] * 4 + [True] * 2
    assert changed(origin) == "Without mask"
    assert steps(origin)[3]["title"] == "Mask left out"
    assert "looks ahead at 2 keys" in steps(origin)[3]["text"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "2 keys cut off"),
        ({"row": 4}, "1 key cut off"),
        ({"row": 5}, "nothing is cut off"),
        ({"causal": False, "site": "encoder.self"}, "no padding"),
        ({"causal": False, "site": "decoder.cross"}, "no padding"),
    ],
)
def test_the_mask_is_told_as_it_is(settings: dict[str, Any], sentence: str) -> None:
    assert sentence in steps(origin_of(**settings))[3]["text"]


def test_without_scaling_the_story_says_by_how_much_and_compares() -> None:
    origin = origin_of(scaled=False)
    assert origin.other is not None
    assert changed(origin) == "Without √dₖ"
    assert "2 times as large" in steps(origin)[2]["text"]
    lines: list[dict[str, Any]] = [*summary(origin)]
    strongest_line, entropy, change = lines
    assert [cell["text"] for cell in entropy["cells"]] == [
        f"{row.entropy:.2f} of at most 2.00 bits" for row in (origin.real, origin.other)
    ]
    assert len(strongest_line["cells"]) == 2
    assert f"{origin.real.entropy:.2f} → {origin.other.entropy:.2f} bits" in steps(origin)[4]["text"]
    moved = (origin.other.weights - origin.real.weights).abs()
    assert change["cells"][1]["token"] == f"▁{int(moved.argmax())}"
    assert float(change["cells"][1]["text"].replace("−", "-")) == pytest.approx(
        float((origin.other.weights - origin.real.weights)[moved.argmax()]), abs=5e-4
    )


def test_the_model_as_it_is_is_compared_with_nothing() -> None:
    origin = origin_of()
    assert changed(origin) == ""
    assert [line["name"] for line in summary(origin)] == ["Looks most at", "Entropy"]
    assert (story(origin)["other"], story(origin)["otherLength"]) == (None, None)


def test_seven_steps_each_with_title_formula_and_sentence() -> None:
    told = steps(origin_of())
    assert len(told) == 7
    assert all(step["title"] and step["formula"] and step["text"].endswith(".") for step in told)


def test_lengths_are_those_of_the_heads_parts() -> None:
    origin = origin_of(masked=False)
    told: dict[str, Any] = story(origin)
    assert told["lengths"] == pytest.approx(np.sqrt((origin.parts**2).sum(1)), rel=1e-4)
    assert told["otherLength"] == pytest.approx(2 * told["lengths"][1], rel=1e-4)


def test_the_payload_holds_no_number_that_json_lacks_and_its_fingerprint_ignores_the_followed_key() -> None:
    first, second = (header_of(pack_story(origin_of(followed=key))) for key in (0, 1))
    assert first["digest"] == second["digest"]
    assert (first["followed"], second["followed"]) == (0, 1)
    assert header_of(pack_story(origin_of(followed=0, scaled=False)))["digest"] != first["digest"]


def test_what_the_browser_sends_is_a_key_or_nothing() -> None:
    assert read_key({"key": 3}, 4) == 3
    for wrong in (None, 3, "3", {}, {"key": 4}, {"key": -1}, {"key": "3"}, {"key": True}, {"key": 1.0}):
        assert read_key(wrong, 4) is None


def test_small_numbers_are_written_as_people_do() -> None:
    assert scientific(3.4e-7) == "3·10⁻⁷"
    assert scientific(9.6e-6) == "1·10⁻⁵"
    assert scientific(0.0) == "0"


# ---- the tab ----


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["view"] = VIEW
    return app


def shown(app: AppTest) -> dict[str, Any]:
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    (element,) = app.get("bidi_component")
    return header_of(element.proto.bytes)


def badge(app: AppTest) -> str:
    (text,) = [element.value for element in app.markdown if "own head output" in element.value]
    return text


@pytest.mark.parametrize("site", ["encoder.self", "decoder.self", "decoder.cross"])
def test_every_site_shows_its_story_and_proves_its_weights(app: AppTest, site: str) -> None:
    app.query_params["site"] = site
    app.query_params["layer"] = "1"
    app.run()
    told = shown(app)
    assert sum(told["real"]["weights"]) + told["real"]["restWeight"] == pytest.approx(1, abs=1e-5)
    assert "= the model's own head output: largest difference" in badge(app)
    assert "green" in badge(app)


def test_without_scaling_both_rows_are_shown_and_the_link_says_so(app: AppTest) -> None:
    app.run()
    assert shown(app)["other"] is None
    app.toggle(key="scaled").set_value(False).run()
    assert shown(app)["changed"] == "Without √dₖ"
    assert shown(app)["other"]["scaled"] == shown(app)["dots"]
    assert app.query_params["scaled"] == "False"


def test_without_the_mask_later_keys_get_weight(app: AppTest) -> None:
    app.query_params["site"] = "decoder.self"
    app.query_params["token"] = "1"
    app.run()
    assert shown(app)["real"]["weights"][2:] == [0.0] * (len(shown(app)["columns"]) - 2)
    app.toggle(key="masked").set_value(False).run()
    assert min(shown(app)["other"]["weights"]) > 0


def test_where_the_mask_cuts_nothing_off_a_sentence_stands_for_its_switch(app: AppTest) -> None:
    app.query_params["masked"] = "False"
    app.run()
    assert [toggle.key for toggle in app.toggle] == ["scaled"]
    assert any("The mask cuts nothing off here" in caption.value for caption in app.caption)
    assert shown(app)["other"] is None


def test_the_key_begins_with_the_strongest_and_can_be_chosen(app: AppTest) -> None:
    app.run()
    told = shown(app)
    assert told["followed"] == int(np.argmax(told["real"]["weights"]))
    app.selectbox(key="key_token").set_value(1).run()
    assert shown(app)["columns"][shown(app)["followed"]]["key"] == 1
    assert app.query_params["key_token"] == "1"
    app.text_area(key="text").set_value("Tom was late.").run()
    assert "key_token" not in app.query_params


def test_a_key_that_is_not_there_is_forgotten(app: AppTest) -> None:
    app.query_params["key_token"] = "999"
    app.run()
    assert shown(app)["followed"] == int(np.argmax(shown(app)["real"]["weights"]))
    assert "key_token" not in app.query_params


def test_the_spread_is_measured_and_the_alternative_named(app: AppTest) -> None:
    app.run()
    told = " ".join(element.value for element in app.markdown)
    assert "Bahdanau et al. 2015" in told
    assert any("tanh(W_1 q + W_2 k)" in formula.value for formula in app.latex)
    trace = traced(Selection().common.text, Selection().changed(checkpoint="en-de"))
    inputs = trace.attention("encoder.self", 0)
    spread = float((inputs.query[0] @ inputs.key[0].T).std(correction=0))
    assert f"**{spread:.2f}** before" in told
    assert f"**{spread / 8**0.5:.2f}** after" in told


def test_head_outputs_that_are_not_the_models_turn_the_proof_into_a_warning(app: AppTest) -> None:
    text, selection = "Nobody else reads this sentence.", Selection().changed(checkpoint="en-de")
    trace = traced(text, selection)
    name = "encoder.layers.0.self_attention.hook_head_output"
    recorded = MappingProxyType({**trace.recorded, name: trace.recorded[name] + 3 * TOLERANCE})
    # A cache keeps what came first, so the tampered trace goes where no true one is yet.
    key = ("written", text + " ", models.reader(selection.model).key)
    traces._traces().put(key, replace(trace, text=text + " ", recorded=recorded))
    app.query_params["text"] = text + " "
    app.run()
    shown(app)
    assert "≠ the model's own head output: largest difference 3·10⁻⁵" in badge(app)
    assert "red" in badge(app)
    app.selectbox(key="layer").set_value(1).run()
    assert "green" in badge(app)


@pytest.mark.parametrize(
    "text", ["I 😀 you", "החתול ישן", HOSTILE, "a"], ids=["emoji", "right to left", "HTML", "short"]
)
def test_unusual_text_is_told_like_any_other(app: AppTest, text: str) -> None:
    app.query_params["text"] = text
    app.query_params["masked"] = "False"
    app.query_params["site"] = "decoder.self"
    app.run()
    assert shown(app)["columns"]
    assert "<b>" not in " ".join(element.value for element in (*app.markdown, *app.caption))
