"""What the tests of the decoding page's tabs share."""

import pytest

from tests.viz.decoding_page import TEXT
from viz.choices import Selection
from viz.loader import ROOT_VARIABLE


@pytest.fixture
def chosen(tiny_checkpoints, monkeypatch):
    """A selection of the tiny checkpoint, which the app finds as well."""
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return Selection(checkpoint="en-de", text=TEXT)
