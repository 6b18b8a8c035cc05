"""Names of the hub: nothing is fetched unless it is allowed, and then only what is no program."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest

from model.adapters.hub import PATTERNS, hub_folder, open_hub
from model.errors import CheckpointError


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    tried: list[object] = []

    def refuse(*given: object) -> None:
        tried.append(given)
        raise OSError("no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return tried


def test_without_permission_nothing_is_asked_of_the_network(no_network: list[object]) -> None:
    with pytest.raises(CheckpointError, match="fetches nothing unless it is allowed"):
        open_hub("google-bert/bert-base-uncased-that-is-not-here", allowed=False)
    assert not no_network


def test_a_model_in_the_cache_opens_without_the_network(
    folder: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[object]
) -> None:
    commit = "0" * 40
    root = tmp_path / "models--someone--tiny"
    (root / "refs").mkdir(parents=True)
    (root / "refs" / "main").write_text(commit)
    snapshot = root / "snapshots" / commit
    snapshot.mkdir(parents=True)
    for file in folder("bert").iterdir():
        (snapshot / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    download = huggingface_hub.snapshot_download
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *a, **k: download(*a, cache_dir=tmp_path, **k))
    reader = open_hub("someone/tiny", allowed=False)
    assert reader.name == "someone/tiny"
    assert reader.abilities.family == "BERT"
    assert not no_network


def test_with_permission_only_settings_tokenizers_and_safetensors_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def note(name: str, **options: Any) -> str:
        asked.update(options, name=name)
        return "/somewhere"

    monkeypatch.setattr(huggingface_hub, "snapshot_download", note)
    assert hub_folder("someone/tiny", allowed=True) == Path("/somewhere")
    assert asked["local_files_only"] is False
    assert set(asked["allow_patterns"]) == set(PATTERNS) == {"*.safetensors", "*.json", "*.txt", "*.model", "*.spm"}


def test_a_failed_download_is_one_sentence() -> None:
    with pytest.raises(CheckpointError, match="could not be fetched") as error:
        hub_folder("someone/not-there", allowed=True)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["", "../x", "/etc", "a/b/c", "a//b", "a b", "https://x.example/a", "a/..", "x" * 200])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(CheckpointError, match="no name of a model"):
        hub_folder(name, allowed=True)
