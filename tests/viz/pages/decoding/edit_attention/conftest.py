"""The tests' tiny checkpoint."""

from pathlib import Path

import pytest

from viz.selection.catalogue import ROOT_VARIABLE


@pytest.fixture(autouse=True)
def checkpoints(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
