"""The model that ships, as lessons run on it."""

import pytest

from tests.paths import ROOT
from viz.access import models
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import ModelChoice


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> Shipped:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
    choice = ModelChoice("en-de", device="cpu")
    return Shipped(choice, models.translator(choice))
