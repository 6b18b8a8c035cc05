"""Names of the hub: only what is no program is fetched."""

import socket
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest

from model.errors import CheckpointError
from model.folder_files import hub_folder
from model.opening import open_reader
from tests.model.adapters.zoo import save_model


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_only_settings_tokenizers_and_safetensors_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def note(name: str, **options: Any) -> str:
        asked.update(options, name=name)
        return "/somewhere"

    monkeypatch.setattr(huggingface_hub, "snapshot_download", note)
    assert hub_folder("someone/tiny") == Path("/somewhere")
    assert set(asked["allow_patterns"]) == {"*.safetensors", "*.json", "*.txt", "*.model", "*.spm"}


def test_a_model_in_the_cache_is_opened_by_its_name_without_a_connection(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "models--someone--tiny"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text("1" * 40, encoding="utf-8")
    (home / "snapshots").mkdir()
    save_model(home / "snapshots" / ("1" * 40), "bert", "wordpiece")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    by_name, by_path = open_reader("someone/tiny"), open_reader(home / "snapshots" / ("1" * 40))
    assert by_name.weights_digest == by_path.weights_digest
    with pytest.raises(CheckpointError, match="There is no folder someone/other"):
        open_reader("someone/other")


@pytest.mark.parametrize("name", ["", "../x", "/etc", "a/b/c", "a//b", "a b", "https://x.example/a", "a/..", "x" * 200])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(CheckpointError, match="not a model name"):
        hub_folder(name)
