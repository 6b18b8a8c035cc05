"""Translators of other people: OPUS-MT on every page, and models of many languages."""

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.model.adapters import picture_zoo
from tests.model.adapters.marian_folders import write_marian
from tests.model.adapters.zoo import save_many_languages
from tests.viz.page_run import app_of, healthy, run_page
from tests.viz.page_run import opened as opened_page
from tests.viz.pages.test_pages import MODEL, PAGES, opened
from tests.viz.sent import unlinked
from viz.access import models
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.ui import snippets

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, tiny_checkpoints: Path) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    # Lessons run on the first model of the list, which is one of ours.
    shutil.copytree(tiny_checkpoints / "en-de", folder / "en-de")
    write_marian(folder / "opus-mt-en-de")
    (folder / "opus-mt-en-de" / "README.md").write_text("A card of the hub.\n", encoding="utf-8")
    return folder


@pytest.fixture
def app(root: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(root))
    return app_of(checkpoint="opus-mt-en-de")


@pytest.mark.parametrize("page", [*PAGES, MODEL])
def test_every_page_opens(app: AppTest, root: Path, page: str) -> None:
    page_of = healthy(opened(app, page))
    if page == MODEL:
        shown = " ".join(str(element.value) for element in (*page_of.markdown, *page_of.html, *page_of.caption))
        assert "Verification: exact" in shown
        assert "2 layers of 4 heads" in shown
        assert "big (paper)" in shown


@pytest.fixture
def reads_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    write_marian(tmp_path / "opus-mt-zh-en", languages=("zho", "eng"))
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    return app_of()


def test_chinese_pairs_are_offered_to_a_model_that_reads_chinese(reads_chinese: AppTest) -> None:
    app = opened(reads_chinese, "coreference")
    groups = app.selectbox(key="pair-group")
    assert list(groups.options)[1:] == ["它", "他", "她", "Control: no pronoun, subject left out"]
    groups.set_value("她").run()
    healthy(app)
    assert app.query_params["pair"] == "zh-she-01"
    marked = " ".join(element.value for element in app.html)
    assert "姑姑" in marked
    assert 'title="antecedent"' in marked
    app.selectbox(key="pair-group").set_value("zero").run()
    healthy(app)
    assert any(
        "The word marked “pronoun” is the predicate without a subject" in unlinked(one.value) for one in app.caption
    )


TEXT = "The animal was too tired."


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    save_many_languages(folder / "nllb", "nllb")
    return folder


def test_languages_are_chosen_and_stand_in_the_address(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(many))
    app = opened_page(app_of(text=TEXT))
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


def test_a_task_of_a_model_of_pictures_is_chosen_and_stands_in_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    picture_zoo.SAVED["donut"](tmp_path / "donut")
    app = opened_page(app_of())
    assert app.selectbox(key="writes").options == ["Model default", "letter", "receipt-v2"]
    app.selectbox(key="writes").select("letter")
    healthy(run_page(app, "attention"))
    assert app.query_params["writes"] == "letter"
    choice = Selection().changed(checkpoint="donut", writes="letter").model
    assert snippets.opened(choice).endswith(".speaking(writes='letter')")


def test_a_language_that_the_model_does_not_know_is_said_and_can_be_changed(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(many))
    app = run_page(app_of(text=TEXT, writes="tlh"), "attention")
    assert not app.exception
    assert "the language 'tlh'" in app.error[0].value.replace("\\", "")
    healthy(app.selectbox(key="writes").select("fra_Latn").run())
