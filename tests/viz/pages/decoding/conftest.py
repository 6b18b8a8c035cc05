"""The decoding page on the tests' tiny checkpoint, and the rows that a decoder computes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

from model.nn.encoder_decoder import Decoder
from tests.patience import PATIENCE
from viz.selection.catalogue import ROOT_VARIABLE
from viz.ui import long_work


@pytest.fixture(autouse=True)
def checkpoints(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))


@pytest.fixture
def rows_computed() -> Iterator[list[nn.Module]]:
    """A list that grows by one with every row that a decoder computes."""
    counted: list[nn.Module] = []

    def count(module: nn.Module, _given: object, _answer: object) -> None:
        counted.extend([module] if isinstance(module, Decoder) else [])

    with register_module_forward_hook(count):
        yield counted


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page waits for a search or for samples, however busy the machine is, instead of showing their progress."""
    monkeypatch.setattr(long_work, "LONGER_PATIENCE", PATIENCE)
