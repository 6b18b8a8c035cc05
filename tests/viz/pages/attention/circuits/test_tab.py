"""QK and OV on the attention page."""

from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model import Trace
from model.analysis.head_circuits import copying_scores, head_circuits
from tests.model.adapters.zoo import save_model
from tests.viz.page_run import app_of
from tests.viz.reading import traced
from tests.viz.sent import charts, numbers_of
from viz.access import models
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.text.token_text import display_token

TEXT = "Tom was late."


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return app_of(view="QK and OV", text=TEXT, site="decoder.cross", layer="1", head="2")


@pytest.fixture
def trace(chosen: Selection) -> Trace:
    return traced(TEXT, chosen)


def test_the_open_head_is_read_from_its_weights(app: AppTest, chosen: Selection, trace: Trace) -> None:
    app.run()
    assert not app.exception
    assert not app.error
    translator = models.translator(chosen.model)
    circuits = head_circuits(translator.model, "decoder.cross", 1, 2)
    copying, weights = charts(app)
    np.testing.assert_allclose(
        numbers_of(copying["data"][0]), copying_scores(translator.model, "decoder.cross"), atol=1e-6
    )
    expected = circuits.weights(trace, "decoder.cross", 1).numpy()
    np.testing.assert_allclose(numbers_of(weights["data"][0]) ** 2, expected, atol=1e-5)
    tables = " ".join(element.value for element in app.html)
    first = int(circuits.writes(torch.tensor([trace.source_ids[0]]))[0].argmax())
    assert display_token(translator.all_tokens()[first]).replace("<", "&lt;").replace(">", "&gt;") in tables


def test_a_key_beyond_the_sentence_that_an_address_names_is_nobodys(app: AppTest) -> None:
    app.query_params["key_token"] = "500"
    app.run()
    assert not app.exception
    assert not any("its top output tokens are" in element.value for element in app.markdown)


def test_a_sentence_that_is_long_has_the_table_and_no_map(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.pages.attention.circuits.MOST_TOKENS", 3)
    app.run()
    assert not app.exception
    assert len(charts(app)) == 1


@pytest.mark.parametrize(("name", "charts_shown", "said"), [("gpt2", 2, ""), ("llama", 0, "rotary")])
def test_a_decoder_of_the_library_is_read_unless_it_turns_by_positions(
    name: str, charts_shown: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    save_model(tmp_path / name, name, "bytes")
    app = app_of(view="QK and OV", text=TEXT, checkpoint=name, layer="1").run()
    assert not app.exception
    assert not app.error
    assert len(charts(app)) == charts_shown
    assert said in " ".join(one.value for one in app.info)
