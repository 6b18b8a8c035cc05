"""A translator of many languages: they are chosen on the left, and stand in the address."""

from pathlib import Path

import pytest

from tests.model.adapters.zoo import save_many_languages
from tests.viz.page_run import app_of, healthy, opened, run_page
from viz.access import models
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.text import messages
from viz.ui import snippets

TEXT = "The animal was too tired."


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    save_many_languages(folder / "nllb", "nllb")
    return folder


def test_languages_are_chosen_and_stand_in_the_address(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(root))
    app = opened(app_of(text=TEXT))
    # What a model offers is known when it is opened; this run opened it.
    assert app.selectbox(key="reads").value == "eng_Latn"
    assert "Chinese (zho_Hans)" in app.selectbox(key="writes").options
    app.selectbox(key="writes").select("zho_Hans")
    healthy(run_page(app, "attention"))
    assert app.query_params["writes"] == "zho_Hans"
    choice = Selection().changed(checkpoint="nllb", writes="zho_Hans").model
    # By these the head of a page names the lines.
    assert models.languages(choice) == ("en", "zh")
    assert snippets.opened(choice).endswith(".speaking(writes='zho_Hans')")


def test_a_language_that_the_model_does_not_know_is_said_and_can_be_changed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(root))
    app = run_page(app_of(text=TEXT, writes="tlh"), "attention")
    assert not app.exception
    assert "does not know the language 'tlh'" in app.error[0].value.replace("\\", "")
    healthy(app.selectbox(key="writes").select("fra_Latn").run())


def test_languages_have_names_for_whoever_looks() -> None:
    assert models.language_name("fra_Latn") == "French (fra_Latn)"
    assert models.language_name("ar_AR") == "Arabic (ar_AR)"
    # A script that is not the usual one is named, too; of a language without a name in CLDR there is the code.
    assert models.language_name("ace_Arab") == "Acehnese, Arabic (ace_Arab)"
    assert models.language_name("acm_Arab") == "acm_Arab"
    with messages.speaking("zh"):
        assert models.language_name("fra_Latn") == "法语 (fra_Latn)"
