"""Folders that a person adds: which may be named, and what happens to one that changes afterwards."""

import json
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages.any_model import add, opened
from viz.selection.catalogue import FOLDERS_VARIABLE


@pytest.fixture
def app(any_model: AppTest) -> AppTest:
    return any_model


def test_a_server_that_others_reach_gives_every_path_the_same_answer(
    app: AppTest, folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = tmp_path / "allowed"
    shutil.copytree(folders / "bert", allowed / "mine")
    (allowed / "out").symlink_to(folders / "bert")
    monkeypatch.setenv(FOLDERS_VARIABLE, str(allowed))
    opened(app, "en-de")
    outside: list[Path | str] = [
        folders / "bert",
        folders,
        "/etc/passwd",
        "/no/such/folder",
        "/root",
        "~nobody-has-this-name",
        "~root",
    ]
    answers = set()
    for path in [*outside, allowed / "out", f"{allowed}/../allowed-too"]:
        answers.add(add(app, path).error[0].value)
    assert len(answers) == 1
    assert "its administrator allows" in answers.pop()
    add(app, allowed / "mine")
    assert not app.error
    assert app.selectbox(key="checkpoint").value == "mine"


def test_where_no_folder_may_be_named_there_is_no_field_for_one(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.selection.catalogue.folders_to_add_from", tuple)
    opened(app, "en-de")
    assert "add/folder" not in [field.key for field in app.text_input]
    assert "opens no folder that is typed here" in " ".join(caption.value for caption in app.sidebar.caption)


def test_an_added_folder_that_becomes_a_link_is_not_followed(app: AppTest, folders: Path, tmp_path: Path) -> None:
    mine = Path(shutil.copytree(folders / "bert", tmp_path / "mine"))
    add(opened(app, "en-de"), mine)
    mine.rename(tmp_path / "moved")
    mine.symlink_to(folders / "bert")
    app.run()
    assert not app.exception
    assert "points elsewhere" in app.error[0].value


@pytest.mark.parametrize("name", ["bert", "gpt2", "vit"])
def test_a_card_that_becomes_a_link_is_not_shown(app: AppTest, folders: Path, tmp_path: Path, name: str) -> None:
    mine = Path(shutil.copytree(folders / name, tmp_path / "mine"))
    (tmp_path / "secret.txt").write_text("the secret of another", encoding="utf-8")
    (mine / "README.md").write_text("my own card, in plain text", encoding="utf-8")
    app.query_params["about"] = "Card"
    add(opened(app, "en-de", "model_card"), mine)
    assert "my own card" in " ".join(code.value for code in app.code)
    (mine / "README.md").unlink()
    (mine / "README.md").symlink_to(tmp_path / "secret.txt")
    app.run()
    assert not app.exception
    assert "secret of another" not in " ".join(element.value for element in (*app.code, *app.text, *app.error))
    assert "outside the folder" in app.error[0].value


def test_a_tokenizer_that_would_end_the_server_is_a_sentence_on_the_page(
    app: AppTest, folders: Path, tmp_path: Path
) -> None:
    mine = Path(shutil.copytree(folders / "bert", tmp_path / "mine"))
    step = {"type": "Replace", "pattern": {"Regex": "."}, "content": "x" * 1_000}
    content = json.loads((mine / "tokenizer.json").read_text(encoding="utf-8"))
    content["normalizer"] = {"type": "Sequence", "normalizers": [step] * 4}
    (mine / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    add(opened(app, "en-de"), mine)
    assert "its replacements turn one character into up to 1,000,000,000,000 characters" in app.error[0].value.replace(
        "\\", ""
    )
