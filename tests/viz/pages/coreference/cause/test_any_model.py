"""Heads of models of every kind put to three interventions, on the page."""

import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from streamlit.testing.v1 import AppTest

from tests.model.adapters.zoo import CONFIGS, save_model, save_tokenizer
from tests.paths import ROOT
from tests.viz.page_run import app_of, healthy, run_page
from tests.viz.pages.any_model import opened
from tests.viz.pages.coreference.cause.test_tab import html, settled
from tests.viz.sent import charts, numbers_of, unlinked
from viz.pages.coreference.data import curated_pairs
from viz.selection.catalogue import ROOT_VARIABLE

A, B = "Tom told me that he was", "Tom told me that she was"


@pytest.fixture
def app(any_model: AppTest) -> AppTest:
    any_model.query_params.update({"lab": "Cause", "text": A, "other": B})
    return any_model


def maps_of(app: AppTest, name: str) -> list[np.ndarray]:
    settled(opened(app, name, "coreference"))
    assert not app.error, app.error[0].value
    return [np.array(numbers_of(chart["data"][0])) for chart in charts(app)]


def test_a_masked_word_is_asked_of_an_encoder_that_can_say_it(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_model(tmp_path / "masked", "bert", head="masked")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    assert len(maps_of(app, "masked")) == 3
    assert "[MASK]" in html(app)
    healthy(app.button(key="cause-attribution").click().run())
    assert app.title[0].value == "Decode"
    assert app.session_state["long-work/attribution"].wait(60)
    healthy(run_page(app, "decoding"))
    assert charts(app)[0]["layout"]["yaxis"]["ticktext"][-1] == "ALTI"


def test_a_classifier_is_asked_which_words_its_label_comes_from(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = transformers.AutoConfig.for_model("bert", **CONFIGS["bert"], id2label={0: "good", 1: "bad", 2: "neither"})
    torch.manual_seed(4)
    transformers.AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path / "labels")
    save_tokenizer(tmp_path / "labels", "wordpiece")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    assert len(maps_of(app, "labels")) == 3
    assert app.selectbox(key="label").options == ["good", "bad", "neither"]
    app.query_params["label"] = "2"
    maps_of(app, "labels")
    assert any("“neither” rather than" in unlinked(one.value) for one in app.markdown)
    app.query_params["tab"] = "Inside"
    healthy(run_page(app, "decoding"))
    assert app.selectbox(key="label").value == 2


def test_what_came_before_the_transformer_is_asked_as_far_as_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
    app = settled(healthy(run_page(app_of(lab="Cause", checkpoint="experiments/convolutional"), "coreference")))
    assert any("rather than" in one.value and "switched off" in unlinked(one.value) for one in app.markdown)
    assert len(charts(app)) == 3
    recurrent = healthy(run_page(app_of(lab="Cause", checkpoint="experiments/gru"), "coreference"))
    assert "a GRU computes each row from the state of the previous one" in recurrent.info[0].value


@pytest.mark.long
def test_a_pair_of_either_set_is_asked_and_comes_along_to_the_other_tabs(app: AppTest) -> None:
    app.query_params["asked"] = "gift-01"
    settled(opened(app, "gpt2", "coreference"))
    assert len(app.selectbox(key="pair").options) == 16
    assert "Mary" in html(app)
    # A pair of the other set is asked about what the model says after it.
    app.selectbox(key="pair-group").set_value("it").run()
    settled(app)
    first = curated_pairs()[app.query_params["pair"]].texts[0]
    assert first in unescape(re.sub("<[^>]+>", "", html(app)))
    assert any("rather than" in unlinked(one.value) for one in app.markdown)
    pair = app.query_params["pair"]
    for tab in ("Side by side", "Measured", "Two models"):
        app.query_params["lab"] = tab
        healthy(run_page(app, "coreference"))
        assert app.selectbox(key="pair").value == pair, tab


def test_the_cause_of_an_induction_heads_choice_is_shown_and_five_heads_are_switched_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
    asked = {"text": "qsxk wnvb. qsx", "other": "qsxb wnvk. qsx", "off": "d-0-0"}
    app = settled(healthy(run_page(app_of(lab="Cause", checkpoint="induction", **asked), "coreference")))
    assert len(charts(app)) == 3
    assert any("“k” rather than “b”" in unlinked(one.value) for one in app.markdown)
    settled(app.button(key="cause-strongest").click().run())
    said = " ".join(unlinked(one.value) for one in app.markdown)
    assert "5 of 8 heads" in said
    assert "The choice flips" in said or "The choice does not flip" in said
