"""The list of models that can be chosen."""

from pathlib import Path

import pytest
import streamlit as st

from viz.selection import catalogue


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of checkpoints, with a session that has added none."""
    for name in ("en-de", "tiny", ".hidden", "_draft"):
        (tmp_path / "checkpoints" / name).mkdir(parents=True)
    (tmp_path / "checkpoints" / "note.txt").touch()
    monkeypatch.setenv(catalogue.ROOT_VARIABLE, str(tmp_path / "checkpoints"))
    monkeypatch.setattr(st, "session_state", {})
    return tmp_path


def test_the_server_lists_the_folders_of_its_root(root: Path) -> None:
    names = ("en-de", "tiny")
    assert catalogue.server_models() == {name: root / "checkpoints" / name for name in names}


def test_folders_of_the_command_line_are_the_servers_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = root / "elsewhere" / "tiny"
    monkeypatch.setattr("sys.argv", ["app.py", str(folder)])
    assert catalogue.server_models()["tiny (2)"] == folder
    monkeypatch.setattr("sys.argv", ["pytest", str(folder)])
    assert "tiny (2)" not in catalogue.server_models()


def test_an_added_folder_is_known_to_its_session_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = root / "mine"
    assert catalogue.add(folder) == "mine"
    assert catalogue.folder_of("mine") == str(folder)
    assert catalogue.models()["mine"] == folder
    assert "mine" not in catalogue.server_models()
    monkeypatch.setattr(st, "session_state", {})
    assert catalogue.folder_of("mine") == ""


def test_the_folder_of_a_server_model_is_not_told(root: Path) -> None:
    assert catalogue.folder_of("en-de") == ""


def test_a_folder_that_is_listed_keeps_its_name(root: Path) -> None:
    assert catalogue.add(root / "checkpoints" / "tiny") == "tiny"
    assert catalogue.add(root / "mine" / "tiny") == "tiny (2)"
    assert catalogue.add(root / "mine" / "tiny") == "tiny (2)"


def test_a_full_list_drops_the_oldest(root: Path) -> None:
    for number in range(catalogue.MAX_ADDED + 1):
        catalogue.add(root / f"model-{number}")
    assert len(catalogue.models()) == 2 + catalogue.MAX_ADDED
    assert catalogue.folder_of("model-0") == ""
    assert catalogue.folder_of("model-1") != ""


def test_a_model_in_a_cache_of_the_hub_has_its_name_there(root: Path) -> None:
    snapshot = root / "models--org--name" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    assert catalogue.display_name(snapshot) == "org/name"
