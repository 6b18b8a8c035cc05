"""A model larger than the memory: most of it on the disk, and all that is shown the same; far too large is refused."""

import gc
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model.adapters import placement
from model.adapters.folder_check import check_folder
from model.adapters.placement import is_spread
from model.adapters.text_reader import TextReader
from model.analysis.embedding_space import embedding_space
from model.description import describe
from model.errors import CheckpointError
from model.opening import open_reader
from tests.model.adapters.zoo import refused, save_model

TEXT = "The animal didn't cross the street because it was too tired."
TOKENIZERS = {"bert": "wordpiece", "gpt2": "bytes", "llama": "bytes", "t5": "metaspace"}
HEADS = {"bert": "masked"}


@pytest.fixture(scope="module", params=TOKENIZERS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[TextReader, TextReader]:
    """The same folder in memory, and where less than half of it may be."""
    name = request.param
    folder = save_model(tmp_path_factory.mktemp(name), name, TOKENIZERS[name], head=HEADS.get(name))
    whole = open_reader(folder, device="cpu")
    assert isinstance(whole, TextReader)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placement, "available_bytes", lambda device: int(0.6 * whole.num_bytes))
        spread = open_reader(folder, device="cpu")
    assert isinstance(spread, TextReader)
    return whole, spread


def test_most_of_it_is_not_in_memory(both: tuple[TextReader, TextReader]) -> None:
    whole, spread = both
    assert is_spread(spread.model)
    assert not is_spread(whole.model)
    assert 0 <= spread.num_bytes < whole.num_bytes / 2
    assert spread.device == whole.device
    assert spread.key == whole.key
    elsewhere = f"{1 - spread.num_bytes / whole.num_bytes:.0%} of the weights are read again in every pass"
    assert elsewhere in dict(describe(spread).rows)["Runs on"]
    assert dict(describe(whole).rows)["Runs on"] == "cpu"


def test_every_weight_of_attention_and_every_projection_is_the_same(both: tuple[TextReader, TextReader]) -> None:
    whole, spread = both
    expected, found = (reader.trace(TEXT) for reader in both)
    assert found.sites == expected.sites
    for site in expected.sites:
        for layer in range(expected.layers_of(site)):
            torch.testing.assert_close(found.weights(site, layer), expected.weights(site, layer))
            torch.testing.assert_close(spread.output_projection(site, layer), whole.output_projection(site, layer))
    assert found.translation == expected.translation
    torch.testing.assert_close(embedding_space(spread).directions, embedding_space(whole).directions)


def test_its_folder_of_weights_goes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    folder = save_model(tmp_path / "bert", "bert")
    monkeypatch.setattr(placement, "available_bytes", lambda device: 100_000)
    reader = open_reader(folder, device="cpu")
    assert [path.name for path in tmp_path.glob(".headlight-offloaded-*")]
    del reader
    gc.collect()
    assert not list(tmp_path.glob(".headlight-offloaded-*"))


def test_a_model_far_too_large_for_memory_is_refused_with_both_numbers(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "available_bytes", lambda device: 5_000)
    refused(bert, r"need 0\.\d GB, but only 0\.0 GB are free")


def test_memory_is_counted_in_the_number_type_that_is_loaded(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = check_folder(bert).numbers
    assert numbers == sum(tensor.numel() for tensor in load_file(bert / "model.safetensors").values())
    monkeypatch.setattr(placement, "available_bytes", lambda device: 4 * numbers)
    cpu = torch.device("cpu")
    assert placement.fits(numbers, torch.float32, cpu)
    assert not placement.fits(numbers + 1, torch.float32, cpu)
    assert not placement.fits(numbers, torch.float32, cpu, tables=1)
    assert placement.fits(2 * numbers, torch.bfloat16, cpu)
    placement.check_room("bert", placement.MOST_TIMES * numbers, torch.float32, cpu)
    with pytest.raises(CheckpointError, match="too large"):
        placement.check_room("bert", placement.MOST_TIMES * numbers + 1, torch.float32, cpu)
