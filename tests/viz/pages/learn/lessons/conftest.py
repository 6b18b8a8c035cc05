"""The model that ships, as lessons and the final test compute with it."""

from collections.abc import Iterator

import pytest

from tests.paths import ROOT
from viz.access import models
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import ModelChoice


@pytest.fixture(scope="module")
def shipped() -> Iterator[Shipped]:
    choice = ModelChoice("en-de")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
        yield Shipped(choice, models.translator(choice))
