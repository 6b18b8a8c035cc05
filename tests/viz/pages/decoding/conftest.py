"""The decoding page on the tests' tiny checkpoint, and the rows that a decoder computes."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from model.decoding.session import DecodingSession
from tests.patience import PATIENCE
from viz.selection.catalogue import ROOT_VARIABLE
from viz.ui import long_work


@pytest.fixture(autouse=True)
def checkpoints(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))


@pytest.fixture
def advances(monkeypatch: pytest.MonkeyPatch) -> list[DecodingSession]:
    """A list that grows by one with every row that the decoder computes."""
    counted: list[DecodingSession] = []
    advance = DecodingSession._advance

    def count(session: DecodingSession, choose: Callable[[torch.Tensor], int]) -> None:
        counted.append(session)
        advance(session, choose)

    monkeypatch.setattr(DecodingSession, "_advance", count)
    return counted


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page waits for a search or for samples, however busy the machine is, instead of showing their progress."""
    monkeypatch.setattr(long_work, "LONGER_PATIENCE", PATIENCE)
