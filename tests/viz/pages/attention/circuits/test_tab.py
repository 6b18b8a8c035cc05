"""By tokens alone, in the tab Why: QK and OV of the open head."""

from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model import Trace
from model.analysis.head_circuits import copying_scores, head_circuits
from model.opening import open_reader
from tests.model.adapters.zoo import save_model
from tests.viz.page_run import app_of, as_read, healthy, traced
from tests.viz.sent import charts, numbers_of, unlinked
from viz.access import models
from viz.pages.attention import circuits as circuits_tab
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.text.written import display_token

TEXT = "Tom was late."


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return unfolded(app_of(view="Why", text=TEXT, site="decoder.cross", layer="1", head="2"))


def unfolded(app: AppTest) -> AppTest:
    app.session_state["by-tokens"] = True
    return app


@pytest.fixture
def trace(chosen: Selection) -> Trace:
    return traced(TEXT, chosen)


def test_the_open_head_is_read_from_its_weights(app: AppTest, chosen: Selection, trace: Trace) -> None:
    app.query_params["key_token"] = "1"
    app.run()
    read = display_token(trace.source_tokens[1])
    kept = [said for element in app.markdown if "its top output tokens are" in (said := as_read(element.value))]
    assert [f"attends to “{read}”" in said for said in kept] == [True]
    assert any("ranked by logits" in unlinked(caption.value) for caption in app.caption)
    assert not app.exception
    assert not app.error
    translator = models.translator(chosen.model)
    circuits = head_circuits(translator, "decoder.cross", 1, 2)
    copying, weights = charts(app)
    np.testing.assert_allclose(numbers_of(copying["data"][0]), copying_scores(translator, "decoder.cross"), atol=1e-6)
    expected = circuits.weights(trace, "decoder.cross", 1).numpy()
    np.testing.assert_allclose(numbers_of(weights["data"][0]) ** 2, expected, atol=1e-5)
    tables = " ".join(element.value for element in app.html)
    first = int(circuits.writes(torch.tensor([trace.source_ids[0]]))[0].argmax())
    assert display_token(translator.all_tokens()[first]).replace("<", "&lt;").replace(">", "&gt;") in tables


def test_a_sentence_that_is_long_has_the_table_and_no_map(
    app: AppTest, trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    longest = max(map(len, trace.axis_tokens("decoder.cross")))
    for most, maps in ((longest - 1, 1), (longest, 2)):
        monkeypatch.setattr(circuits_tab, "MOST_TOKENS", most)
        app.run()
        assert not app.exception
        assert len(charts(app)) == maps


def test_the_best_pairs_of_the_vocabulary_are_found_where_they_are_asked_for(
    app: AppTest, chosen: Selection, trace: Trace
) -> None:
    app.session_state["qk-pairs"] = True
    app.run()
    assert not app.exception
    translator = models.translator(chosen.model)
    (best, *_) = head_circuits(translator, "decoder.cross", 1, 2).best_pairs(1)
    tokens = translator.all_tokens()
    table = next(element.value for element in app.html if "Pairs of tokens" in element.value)
    assert f"{best.score:.2f}" in table
    for token in (best.query, best.key):
        assert display_token(tokens[token]).replace("<", "&lt;").replace(">", "&gt;") in table


def other(root: Path, monkeypatch: pytest.MonkeyPatch, name: str, **params: object) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(root))
    save_model(root / name, name, "bytes")
    return unfolded(app_of(view="Why", text=TEXT, checkpoint=name, layer="1", head="0", **params))


@pytest.mark.parametrize(
    ("name", "site"),
    [
        ("gpt2", "decoder.self"),
        ("marian", "decoder.cross"),
        pytest.param("bert", "encoder.self", marks=pytest.mark.long),
        pytest.param("bart", "encoder.self", marks=pytest.mark.long),
    ],
)
def test_a_model_of_the_library_is_read_without_the_positions_that_it_adds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, site: str
) -> None:
    app = healthy(other(tmp_path, monkeypatch, name, site=site).run())
    reader = open_reader(tmp_path / name, device="cpu")
    copying, weights = charts(app)
    np.testing.assert_allclose(numbers_of(copying["data"][0]), copying_scores(reader, site), atol=1e-5)
    expected = head_circuits(reader, site, 1, 0).weights(reader.trace(TEXT), site, 1)
    np.testing.assert_allclose(numbers_of(weights["data"][0]) ** 2, expected.numpy(), atol=1e-5)
    assert not [one for one in app.number_input if one.key == "distance"]


def test_scores_of_rotary_positions_are_those_at_the_distance_that_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = healthy(other(tmp_path, monkeypatch, "llama", distance=5000).run())
    assert app.number_input(key="distance").value == 95
    assert any("Distance 5000 is out of range (0 to 95)" in as_read(one.value) for one in app.info)
    reader = open_reader(tmp_path / "llama", device="cpu")

    def assert_drawn(distance: int) -> None:
        circuits = head_circuits(reader, "decoder.self", 1, 0, distance=distance)
        _copying, weights = charts(healthy(app))
        expected = circuits.weights(reader.trace(TEXT), "decoder.self", 1).numpy()
        np.testing.assert_allclose(numbers_of(weights["data"][0]) ** 2, expected, atol=1e-5)

    app.number_input(key="distance").set_value(3).run()
    assert_drawn(3)
    # Where none is chosen, they are those of the token just before.
    app = healthy(other(tmp_path, monkeypatch, "llama").run())
    assert_drawn(1)
