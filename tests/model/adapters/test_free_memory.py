"""A model that memory does not hold is refused before it is loaded."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model.adapters import placement
from model.adapters.folder_check import check_folder
from model.errors import CheckpointError
from model.opening import open_reader
from tests.model.adapters.folders import refused

Folder = Callable[[str], Path]


def test_a_model_far_too_large_for_memory_is_refused_with_both_numbers(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "available_bytes", lambda device: 5_000)
    refused(bert, r"need 0\.\d GB, and 0\.0 GB are free")


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


def test_tables_that_a_model_computes_and_its_largest_weight_need_memory(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two layers, each of which makes booleans for every two of 96 positions; and 400 tokens of 32 numbers.
    at_once = 2 * 96**2 + 4 * 400 * 32
    for there, fits in ((at_once - 1, False), (at_once + 100, True)):
        monkeypatch.setattr(placement, "available_bytes", lambda device, there=there: there)
        if fits:
            assert open_reader(folder("gpt_neo")).abilities.family == "GPTNeo"
        else:
            refused(folder("gpt_neo"), "weights and tables of positions and masks need")


def test_some_memory_is_available_here() -> None:
    assert 1e6 < placement.available_bytes(torch.device("cpu")) < 1e15
