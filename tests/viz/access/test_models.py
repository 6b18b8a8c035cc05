"""Which models the pages find, open, keep and refuse."""

import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from model.errors import CheckpointError, DeviceError
from viz.access import models
from viz.selection import catalogue
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection


def test_checkpoints_are_the_folders_of_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("b", "a", ".hidden", "__pycache__"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").touch()
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    assert list(catalogue.server_models()) == ["a", "b"]


def test_a_missing_root_holds_no_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path / "nowhere"))
    assert list(catalogue.server_models()) == []


def test_one_translator_serves_automatic_and_named_device(selection: Selection) -> None:
    import torch

    named = "cuda" if torch.cuda.is_available() else "cpu"
    assert models.translator(selection.model) is models.translator(selection.changed(device=named).model)


def test_the_vocabulary_is_in_the_order_of_its_ids(selection: Selection) -> None:
    pieces = models.vocabulary(models.reader(selection.model))
    tokenizer = models.translator(selection.model).tokenizer
    assert len(pieces) == tokenizer.vocab_size
    assert pieces == tokenizer.tokens(range(len(pieces)))
    # A character may be a piece and a byte, of which the piece is found.
    assert tokenizer.tokens([tokenizer.token_id(piece) for piece in pieces[4:]]) == pieces[4:]


def test_a_changed_checkpoint_is_loaded_anew(
    tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "en-de")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    selection = Selection().changed(checkpoint="en-de")
    models.translator(selection.model)
    with (tmp_path / "en-de" / "manifest.json").open("a", encoding="utf-8") as manifest:
        manifest.write("{damaged")
    with pytest.raises(CheckpointError):
        models.translator(selection.model)


def test_how_much_is_to_be_loaded_is_known_until_it_is(
    tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "en-de"))
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    selection = Selection().changed(checkpoint="en-de")
    assert models.bytes_to_load(selection.model) == (folder / "model.safetensors").stat().st_size
    models.translator(selection.model)
    assert models.bytes_to_load(selection.model) == 0
    assert models.bytes_to_load(selection.changed(checkpoint="gone").model) == 0


def test_an_absent_device_is_named(selection: Selection) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has the device")
    with pytest.raises(DeviceError):
        models.translator(selection.changed(device="cuda").model)


def test_a_path_is_no_checkpoint_name(selection: Selection) -> None:
    for read in (models.translator, models.folder):
        with pytest.raises(CheckpointError):
            read(selection.changed(checkpoint="../en-de").model)


def test_only_headlights_own_checkpoints_are_known_to_read_english_and_write_german(selection: Selection) -> None:
    assert models.languages(selection.model) == ("en", "de") == models.reader(selection.model).languages
    assert models.languages(selection.changed(checkpoint="nothing").model) == ("", "")


def test_a_torch_that_is_still_being_imported_has_no_gpu_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    assert not models.has_gpu()


def test_a_folder_that_may_not_be_looked_into_is_of_no_known_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir()
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))

    def refused(self: Path, **options: bool) -> bool:
        raise PermissionError(13, "Permission denied")

    choice = Selection().changed(checkpoint="locked").model
    # As it is for those who are not its owner: whoever runs the tests may be.
    monkeypatch.setattr(Path, "is_file", refused)
    assert models.kind(choice) is None
    assert models.languages_of_files(choice) == ("", "")
    assert not models.has_chat_template(choice)
