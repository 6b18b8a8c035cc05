"""Whatever a folder holds is opened as what it is."""

from pathlib import Path

import pytest

from model import Abilities, Translator, open_reader
from model.adapters.text_reader import TextReader
from model.errors import CheckpointError
from model.opening import as_translator
from tests.model.adapters.zoo import save_model

PUBLIC = ("name", "digest", "device", "abilities", "trace", "output_projection")


def test_a_checkpoint_of_ours_opens_as_a_translator_that_can_do_everything(tiny_checkpoints: Path) -> None:
    reader = open_reader(tiny_checkpoints / "en-de", "cpu")
    assert isinstance(reader, Translator)
    abilities = reader.abilities
    assert (abilities.kind, abilities.positions, abilities.lacks) == ("encoder-decoder", "sinusoidal", {})
    assert abilities.shapes == reader.trace("The animal was tired.").shapes
    assert abilities.has("scores")


def test_a_folder_of_transformers_opens_as_a_reader_with_the_same_methods(tmp_path: Path) -> None:
    reader = open_reader(save_model(tmp_path / "mine", "bart", "metaspace"), "cpu")
    assert isinstance(reader, TextReader)
    assert reader.name == "mine"
    assert all((hasattr(reader, name) and hasattr(Translator, name)) or name in ("name", "digest") for name in PUBLIC)
    assert isinstance(reader.abilities, Abilities)
    # BART's stacks differ: 3 layers of 4 heads, 2 layers of 2.
    assert reader.abilities.shapes == {"encoder.self": (3, 4), "decoder.self": (2, 2), "decoder.cross": (2, 2)}
    assert not reader.abilities.has("positional encodings")


def test_a_file_and_nothing_at_all_are_no_folders(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x", encoding="utf-8")
    for path in (tmp_path / "x", tmp_path / "none"):
        with pytest.raises(CheckpointError, match="no folder"):
            open_reader(path)


def test_a_models_key_names_its_content_device_and_number_type(tiny_checkpoints: Path) -> None:
    reader = open_reader(tiny_checkpoints / "en-de", "cpu")
    assert reader.key == f"{reader.digest}/cpu/torch.float32"


def test_only_what_headlight_runs_itself_is_a_translator(tiny_checkpoints: Path, tmp_path: Path) -> None:
    ours = open_reader(tiny_checkpoints / "en-de", "cpu")
    assert as_translator(ours) is ours
    assert ours.languages == ("en", "de")
    theirs = open_reader(save_model(tmp_path / "mine", "bart", "metaspace"), "cpu")
    assert theirs.languages == ("", "")
    with pytest.raises(CheckpointError, match="mine is a model of another kind: Bart"):
        as_translator(theirs)
