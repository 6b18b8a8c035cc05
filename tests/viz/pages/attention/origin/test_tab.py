"""The tab of one row's story with its switches, on the page."""

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model import Transformer, TransformerConfig
from model.checkpoint import save_checkpoint
from model.tokenizer import Tokenizer
from tests.paths import ROOT
from tests.patience import PATIENCE
from tests.viz.reading import traced
from tests.viz.sent import sent_to
from viz.access import models, traces
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection

VIEW = "Where a weight comes from"
HOSTILE = "</script><b>x</b>"


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    app.query_params["view"] = VIEW
    app.query_params["layer"] = "0"
    return app


def shown(app: AppTest) -> dict[str, Any]:
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    ((header, _),) = sent_to(app, "origin_story")
    return header


def badge(app: AppTest) -> str:
    (text,) = [element.value for element in app.markdown if "own head output" in element.value]
    return text


@pytest.mark.parametrize("site", ["encoder.self", "decoder.self", "decoder.cross"])
def test_every_site_shows_its_story_and_proves_its_weights(app: AppTest, site: str) -> None:
    app.query_params["site"] = site
    app.query_params["layer"] = "1"
    app.run()
    payload = shown(app)
    assert sum(payload["real"]["weights"]) + payload["real"]["restWeight"] == pytest.approx(1, abs=1e-5)
    assert "= the model's own head output: largest difference" in badge(app)
    assert "green" in badge(app)


def test_a_text_too_long_to_keep_the_models_own_outputs_says_so(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "LONGEST_PROVED", 10)
    app.query_params["text"] = "A text of its own."
    app.run()
    assert shown(app)["real"]["weights"]
    assert any("of more than 10 characters" in caption.value for caption in app.caption)
    assert not [one for one in app.markdown if "own head output" in one.value]


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
    assert any("The mask hides nothing here" in caption.value for caption in app.caption)
    assert shown(app)["other"] is None


def test_the_key_begins_with_the_strongest_and_can_be_chosen(app: AppTest) -> None:
    app.run()
    payload = shown(app)
    assert payload["followed"] == int(np.argmax(payload["real"]["weights"]))
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
    text = " ".join(element.value for element in app.markdown)
    assert "Bahdanau et al. 2015" in text
    assert any("tanh(W_1 q + W_2 k)" in formula.value for formula in app.latex)
    trace = traced(Selection().common.text, Selection().changed(checkpoint="en-de"))
    inputs = trace.attention("encoder.self", 0)
    spread = float((inputs.query[0] @ inputs.key[0].T).std(correction=0))
    assert f"**{spread:.2f}** before" in text
    assert f"**{spread / 8**0.5:.2f}** after" in text


def test_head_outputs_that_are_not_the_models_turn_the_proof_into_a_warning(app: AppTest) -> None:
    text, selection = "Nobody else reads this sentence.", Selection().changed(checkpoint="en-de")
    trace = traced(text, selection)
    name = "encoder.layers.0.self_attention.hook_head_output"
    tolerance = trace.head_output_tolerance("encoder.self", 0)
    recorded = MappingProxyType({**trace.recorded, name: trace.recorded[name] + 3 * tolerance})
    # A cache keeps what came first, so the tampered trace goes where no true one is yet.
    key = ("written", text + " ", models.reader(selection.model).key)
    traces._traces().put(key, replace(trace, text=text + " ", recorded=recorded))
    app.query_params["text"] = text + " "
    app.run()
    shown(app)
    assert "≠ the model's own head output: largest difference" in badge(app)
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


def test_additive_scores_are_told_by_their_own_formula(
    app: AppTest, tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(1)
    model = Transformer(replace(config, score="additive"))
    save_checkpoint(tmp_path / "en-de", model, tokenizer, card="Random weights.\n")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    app.run()
    told = shown(app)
    assert told["steps"][0]["formula"].startswith("vᵀ tanh(q + k)")
    assert told["steps"][2]["title"] == "This model does not divide by √dₖ"
    assert sum(told["products"][told["followed"]]) == pytest.approx(told["dots"][told["followed"]], abs=1e-4)


def test_without_the_division_it_opens_on_the_row_that_changes_most_unless_a_row_was_chosen(app: AppTest) -> None:
    app.query_params.update(scaled="False", site="encoder.self", layer="1", head="2")
    app.run()
    selection = app.session_state["selection"]
    inputs = traces.trace(models.reader(selection.model), selection.common.text).attention("encoder.self", 1)
    divided = inputs.scores_and_weights([2]).scores[0]
    moved = (divided.softmax(-1) - (divided * len(inputs.query[2, 0]) ** 0.5).softmax(-1)).abs().sum(-1)
    assert len(set(moved.tolist())) > 1
    assert app.selectbox(key="token").value == int(moved.argmax())
    other = (int(moved.argmax()) + 1) % len(moved)
    app.selectbox(key="token").set_value(other).run()
    shown(app)
    assert app.selectbox(key="token").value == other
