"""What the tests of causes share."""

from pathlib import Path

import pytest
import streamlit as st

from model import Translator
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection


@pytest.fixture(scope="module", autouse=True)
def nothing_computed_before() -> None:
    """The first test of a file computes what the others find."""
    st.cache_resource.clear()


@pytest.fixture
def chosen(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Selection:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return Selection()


@pytest.fixture
def saved(chosen: Selection, saved: Translator) -> Translator:
    """The translator as the page that is opened with this selection loads it."""
    return saved
