"""The app with the tests' tiny checkpoint."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of
from viz.selection.catalogue import ROOT_VARIABLE
from viz.ui import long_work


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    long_work.results.clear()
    return app_of()
