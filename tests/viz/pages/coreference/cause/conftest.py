"""What the tests of causes share."""

from pathlib import Path

import pytest
import streamlit as st

from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection


@pytest.fixture
def chosen(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Selection:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    # What another test computed would be there already.
    st.cache_resource.clear()
    return Selection()
