"""A folder is found by its path as people type or paste it, and no other machine is asked for one."""

from collections.abc import Callable
from pathlib import Path, PureWindowsPath

import pytest

from model.adapters.inspect_folder import folder_with_model, is_elsewhere
from model.errors import CheckpointError


@pytest.mark.parametrize("typed", [str, lambda path: f'"{path}"', Path.as_uri], ids=["path", "quoted", "address"])
def test_a_path_is_understood_as_file_managers_copy_it(bert: Path, typed: Callable[[Path], str]) -> None:
    folder = bert.rename(bert.with_name("bert, große"))
    assert folder_with_model(typed(folder)) == folder.resolve()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("C:\\models\\bert", False),
        ("c:\\elsewhere", False),
        ("\\\\school\\models\\bert", False),
        ("D:\\models\\bert", True),
        ("\\\\evil\\models\\bert", True),
        ("//evil/models/bert", True),
        ("\\\\?\\UNC\\evil\\models", True),
        ("\\\\.\\pipe\\x", True),
    ],
)
def test_a_path_of_windows_to_another_drive_or_machine_is_known_by_its_text(path: str, expected: bool) -> None:
    allowed = [PureWindowsPath("C:\\models"), PureWindowsPath("\\\\School\\models")]
    assert is_elsewhere(PureWindowsPath(path), allowed) == expected


def test_where_no_folder_is_allowed_none_is_looked_at(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "resolve", lambda path: pytest.fail(f"looked at {path}"))
    with pytest.raises(CheckpointError, match="only folders that its administrator allows"):
        folder_with_model(str(bert), ())
