"""What the loader finds, caches and refuses."""

import shutil
from pathlib import Path

import pytest

from model.errors import CheckpointError, DeviceError, InputTextError
from viz.access import descriptions, loader
from viz.core.bounded_cache import BoundedCache
from viz.selection import catalogue
from viz.selection.selection import Selection

TEXT = "The animal was tired."


@pytest.fixture
def selection(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Selection:
    monkeypatch.setenv(loader.ROOT_VARIABLE, str(tiny_checkpoints))
    return Selection().changed(checkpoint="en-de")


def test_checkpoints_are_the_folders_of_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("b", "a", ".hidden", "__pycache__"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").touch()
    monkeypatch.setenv(loader.ROOT_VARIABLE, str(tmp_path))
    assert list(catalogue.server_models()) == ["a", "b"]


def test_a_missing_root_holds_no_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(loader.ROOT_VARIABLE, str(tmp_path / "nowhere"))
    assert list(catalogue.server_models()) == []


def test_one_translator_serves_automatic_and_named_device(selection: Selection) -> None:
    import torch

    named = "cuda" if torch.cuda.is_available() else "cpu"
    assert loader.translator(selection) is loader.translator(selection.changed(device=named))


def test_a_sentence_is_traced_once(selection: Selection) -> None:
    assert loader.trace(TEXT, selection) is loader.trace(TEXT, selection)


def test_progress_is_told_after_every_token_and_not_for_a_known_text(selection: Selection) -> None:
    told = []
    text = "A text that nobody has translated before."
    trace = loader.trace(text, selection, lambda written, most: told.append((written, most)))
    assert [written for written, _ in told] == list(range(1, len(trace.steps) + 1))
    assert all(written <= most for written, most in told)
    loader.trace(text, selection, lambda written, most: pytest.fail("it was known"))


def test_the_store_keeps_the_traces_used_last() -> None:
    store: BoundedCache[tuple[str, str, str], object] = BoundedCache(2)
    places = [(text, "digest", "cpu") for text in "abc"]
    traces = [object() for _ in places]
    store.put(places[0], traces[0])
    store.put(places[1], traces[1])
    assert store.get(places[0]) is traces[0]
    store.put(places[2], traces[2])
    assert store.get(places[1]) is None
    assert store.get(places[0]) is traces[0]
    assert store.put(places[0], object()) is traces[0]


def test_shapes_begin_with_the_checkpoint_and_count_its_parameters(selection: Selection) -> None:
    shapes = descriptions.shapes(selection)
    assert [name for name, _, _ in shapes] == ["en-de", "base (paper)", "big (paper)"]
    real = sum(parameter.numel() for parameter in loader.translator(selection).model.parameters())
    assert shapes[0][2].total == real


def test_the_vocabulary_is_in_the_order_of_its_ids(selection: Selection) -> None:
    pieces = descriptions.vocabulary(selection)
    tokenizer = loader.translator(selection).tokenizer
    assert len(pieces) == tokenizer.vocab_size
    assert [tokenizer.token_id(piece) for piece in pieces[4:]] == list(range(4, len(pieces)))


def test_a_translation_is_the_one_of_the_trace(selection: Selection) -> None:
    assert loader.translation(TEXT, selection) == loader.trace(TEXT, selection).translation


def test_a_checkpoint_without_a_record_says_nothing_of_its_making(selection: Selection) -> None:
    assert descriptions.training(selection) is None
    assert descriptions.training_log(selection) is None
    assert descriptions.metrics(selection) is None
    assert descriptions.card(selection) == "Random weights, for tests.\n"


def test_a_path_is_no_checkpoint_name(selection: Selection) -> None:
    for read in (loader.translator, descriptions.training, descriptions.card):
        with pytest.raises(CheckpointError):
            read(selection.changed(checkpoint="../en-de"))


def test_a_changed_checkpoint_is_loaded_anew(
    tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "en-de")
    monkeypatch.setenv(loader.ROOT_VARIABLE, str(tmp_path))
    selection = Selection().changed(checkpoint="en-de")
    loader.translator(selection)
    with (tmp_path / "en-de" / "manifest.json").open("a") as manifest:
        manifest.write("{damaged")
    with pytest.raises(CheckpointError):
        loader.translator(selection)


def test_errors_are_not_cached(selection: Selection) -> None:
    for _ in range(2):
        with pytest.raises(InputTextError):
            loader.trace("  ", selection)


def test_an_absent_device_is_named(selection: Selection) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has the device")
    with pytest.raises(DeviceError):
        loader.translator(selection.changed(device="cuda"))
