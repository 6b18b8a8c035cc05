"""The tiny checkpoint with an atlas beside it or in a cache of its own."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model import Translator
from model.analysis.atlas.file import save_atlas
from model.analysis.atlas.measure import Atlas, build_atlas
from model.analysis.corpus import CorpusSentence
from tests.conftest import few_cases
from tests.viz.page_run import app_of
from tests.viz.pages.atlas.opening import OWN, forget
from viz.pages.atlas import data
from viz.selection.catalogue import ROOT_VARIABLE


@pytest.fixture(scope="module")
def saved(tiny_checkpoints: Path) -> Translator:
    """The model as its checkpoint holds it: weights with 16 bits, so another one than before it was saved."""
    return Translator.load(tiny_checkpoints / "en-de", device="cpu")


@pytest.fixture(scope="module")
def atlas(saved: Translator) -> Atlas:
    return build_atlas(saved, [CorpusSentence(text) for text in OWN])


@pytest.fixture
def checkpoints(tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of checkpoints, a corpus of our own with six sentences, and a cache that nobody has used."""
    shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "ck" / "en-de")
    (tmp_path / "own.txt").write_text("\n".join(OWN), encoding="utf-8")
    monkeypatch.setattr(data, "OWN_CORPUS", tmp_path / "own.txt")
    monkeypatch.setattr(data, "cases_for", few_cases)
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path / "ck"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    forget()
    yield tmp_path / "ck"
    forget()


@pytest.fixture
def shipped(checkpoints: Path, atlas: Atlas) -> Path:
    save_atlas(atlas, checkpoints / "en-de" / "atlas.npz")
    return checkpoints / "en-de" / "atlas.npz"


@pytest.fixture
def app(checkpoints: Path) -> AppTest:
    return app_of()
