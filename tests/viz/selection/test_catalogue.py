"""The list of models that can be chosen."""

import os
from pathlib import Path

import pytest
import streamlit as st

from viz.selection import catalogue


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of checkpoints, with a session that has added none."""
    for name in ("en-de", "tiny", ".hidden", "__pycache__"):
        (tmp_path / "checkpoints" / name).mkdir(parents=True)
    (tmp_path / "checkpoints" / "note.txt").touch()
    monkeypatch.setenv(catalogue.ROOT_VARIABLE, str(tmp_path / "checkpoints"))
    monkeypatch.setattr(st, "session_state", {})
    return tmp_path


def test_the_server_lists_the_folders_of_its_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("en-de", "tiny")
    assert catalogue.server_models() == {name: root / "checkpoints" / name for name in names}
    assert catalogue.folder_of("en-de") == "", "the folder of a server's model is not told"
    monkeypatch.setenv(catalogue.ROOT_VARIABLE, str(root / "nowhere"))
    assert catalogue.server_models() == {}


def test_experiments_come_last_and_say_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert catalogue.experiments() == {}
    folder = root / "checkpoints" / "experiments" / "no-positions"
    folder.mkdir(parents=True)
    (folder.parent / "ablations.json").touch()
    monkeypatch.setattr("sys.argv", ["app.py", str(root / "elsewhere")])
    assert list(catalogue.server_models()) == ["en-de", "tiny", "elsewhere", "experiments/no-positions"]
    assert catalogue.experiments() == {"no-positions": folder}
    assert catalogue.label("experiments/no-positions") == "Small model: no positions"
    assert [catalogue.label(name) for name in ("en-de", "google/bert")] == ["en-de", "google/bert"]


def test_a_link_that_comes_to_lead_to_a_folder_is_listed(root: Path) -> None:
    checkpoints = root / "checkpoints"
    (checkpoints / "link").symlink_to(root / "later")
    (checkpoints / "shown").symlink_to(checkpoints / "tiny")
    os.utime(checkpoints, (1, 1))
    assert list(catalogue.server_models()) == ["en-de", "shown", "tiny"]
    (root / "later").mkdir()
    assert list(catalogue.server_models()) == ["en-de", "link", "shown", "tiny"]


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
    # A folder that is listed keeps its name.
    assert catalogue.add(root / "checkpoints" / "tiny") == "tiny"
    assert catalogue.add(root / "mine" / "tiny") == "tiny (2)"
    assert catalogue.add(root / "mine" / "tiny") == "tiny (2)"
    assert catalogue.add(root / "yours" / "tiny") == "tiny (3)"
    # A full list drops the oldest.
    for number in range(catalogue.MAX_ADDED + 1):
        catalogue.add(root / f"model-{number}")
    assert len(catalogue.models()) == 2 + catalogue.MAX_ADDED
    assert catalogue.folder_of("model-0") == ""
    assert catalogue.folder_of("model-1") != ""


def test_a_model_in_a_cache_of_the_hub_has_its_name_there(root: Path) -> None:
    snapshot = root / "models--org--name" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    assert catalogue.display_name(snapshot) == "org/name"
    # The folder around one whose name says nothing has the name, unless that is the folder of all models.
    assert catalogue.display_name(root / "mine" / "model") == "mine"
    assert catalogue.display_name(root / "checkpoints" / "model") == "model"


def served(monkeypatch: pytest.MonkeyPatch, address: str | None, hosts: list[str]) -> None:
    options = {"server.address": address, "server.allowedHosts": hosts}
    monkeypatch.setattr(st, "get_option", options.__getitem__)


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1", "127.0.0.9"])
def test_on_ones_own_machine_any_folder_may_be_named(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    served(monkeypatch, address, ["localhost", "127.0.0.1"])
    assert catalogue.folders_to_add_from() is None


@pytest.mark.parametrize(
    ("address", "hosts"),
    [
        (None, ["localhost"]),
        ("", ["localhost"]),
        ("0.0.0.0", ["localhost"]),
        ("192.168.1.5", ["localhost"]),
        ("headlight.school.example", ["localhost"]),
        ("127.0.0.1", ["localhost", "headlight.school.example"]),  # behind another server that passes requests on
        ("127.0.0.1", []),
    ],
)
def test_where_others_reach_the_server_no_folder_may_be_named(
    monkeypatch: pytest.MonkeyPatch, address: str | None, hosts: list[str]
) -> None:
    served(monkeypatch, address, hosts)
    assert catalogue.folders_to_add_from() == ()
    monkeypatch.setenv(catalogue.FOLDERS_VARIABLE, os.pathsep.join(["/srv/models", "/srv/more"]))
    assert catalogue.folders_to_add_from() == (Path("/srv/models"), Path("/srv/more"))


def test_models_are_fetched_only_where_that_is_allowed_and_then_can_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    served(monkeypatch, "0.0.0.0", ["localhost"])
    for value, is_allowed in (("", False), ("0", False), ("1", True)):
        monkeypatch.setenv(catalogue.DOWNLOADS_VARIABLE, value)
        assert (catalogue.downloads_allowed(), catalogue.can_add()) == (is_allowed, is_allowed)
    monkeypatch.setenv(catalogue.DOWNLOADS_VARIABLE, "")
    served(monkeypatch, "127.0.0.1", ["localhost"])
    assert (catalogue.downloads_allowed(), catalogue.can_add()) == (False, True)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_a_folder_whose_name_is_not_utf_8_is_listed_with_one_that_can_be_shown(root: Path) -> None:
    (Path(os.fsdecode(os.fsencode(root / "checkpoints") + b"/m\xff"))).mkdir()
    assert "m\ufffd" in catalogue.server_models()
