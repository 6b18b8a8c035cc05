"""Heads switched off and exchanged in models of every kind, on the page."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.interventions.head_effects import measure_effects
from model.analysis.interventions.patching import patch_heads, patch_paths
from model.analysis.interventions.word_pairs import own_pair
from model.opening import as_chooser, open_reader
from tests.model.adapters.zoo import save_model
from tests.viz.pages.any_model import opened
from tests.viz.pages.coreference.cause.test_tab import html, settled
from tests.viz.sent import charts, numbers_of
from viz.pages.coreference.cause.data import words
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.coreference import OWN_TEXTS
from viz.ui.attribution import choice_in_words

A, B = "Tom told me that he was", "Tom told me that she was"


@pytest.fixture
def app(any_model: AppTest) -> AppTest:
    any_model.query_params.update({"lab": "Cause", "text": A, "other": B, "asked": OWN_TEXTS})
    return any_model


def maps_of(app: AppTest, name: str) -> list[np.ndarray]:
    settled(opened(app, name, "coreference"))
    assert not app.error, app.error[0].value
    *maps, explained, _ = charts(app)
    assert explained["layout"]["yaxis"]["ticktext"][-1] == "ALTI"
    return [np.array(numbers_of(chart["data"][0])) for chart in maps]


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_every_head_is_switched_off_exchanged_and_followed(app: AppTest, folders: Path, name: str) -> None:
    maps = maps_of(app, name)
    reader = as_chooser(open_reader(folders / name))
    pair = own_pair(reader, A, B).pair
    choices = [pair.a, pair.b.turned]
    effects = -measure_effects(reader, choices).mean_changes.numpy()
    patched, direct = (of(reader, [pair]).overall.numpy() for of in (patch_heads, patch_paths))
    sites = len(reader.abilities.heads)
    assert len(maps) == 3 * sites
    for shown, expected in zip(
        (maps[:sites], maps[sites : 2 * sites], maps[2 * sites :]), (effects, patched, direct), strict=True
    ):
        drawn = np.concatenate([table[~np.isnan(table)] for table in shown])
        assert drawn == pytest.approx(expected, abs=2e-3, rel=1e-3)
    assert any("heads** is off" in one.value for one in app.markdown)
    settled(app.segmented_control(key="cause_text").set_value("B").run())
    assert app.query_params["explain"] == "B"
    right, wrong = (choice_in_words(word, None) for word in reversed(own_pair(reader, A, B).words))
    assert any(one.value.startswith(f"Why {right} rather than {wrong}") for one in app.markdown)
    assert "without these" in html(app)


def test_a_masked_word_is_asked_of_an_encoder_that_can_say_it(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_model(tmp_path / "masked", "bert", head="masked")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    maps = maps_of(app, "masked")
    assert len(maps) == 3
    assert "[MASK]" in html(app)


@pytest.mark.parametrize(
    ("name", "said"),
    [("bert", "AutoModelForMaskedLM"), ("mpnet", "does not expose the queries"), ("vit", "pictures")],
)
def test_what_a_model_truly_lacks_is_said(app: AppTest, name: str, said: str) -> None:
    opened(app, name, "coreference")
    assert not app.error
    assert said in app.info[0].value


def test_the_set_is_offered_where_its_names_are_words_of_the_model(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    del app.query_params["asked"]
    settled(opened(app, "gpt2", "coreference"))
    options = app.selectbox(key="word_pair").options
    assert len(options) == 17
    assert app.selectbox(key="word_pair").value == "gift-01"
    assert "Mary" in html(app)
    app.segmented_control(key="cause_scope").set_value("set").run()
    assert any(button.label == "Switch off each head in turn" for button in app.button)
    monkeypatch.setattr(words, "set_pairs", lambda reader: ())
    app.segmented_control(key="cause_scope").set_value("pair").run()
    assert app.selectbox(key="word_pair").options == ["My own texts"]


def test_a_second_text_is_asked_for_where_there_is_none(app: AppTest) -> None:
    app.query_params["other"] = A
    opened(app, "gpt2", "coreference")
    assert not app.error
    assert any("second text that differs" in one.value for one in app.info)
