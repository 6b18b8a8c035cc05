"""Few other sentences: random models write each to the limit."""

import pytest

from model.analysis.ablations import outputs


@pytest.fixture(autouse=True)
def few_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "OTHERS", 1)
