"""Probabilities read well, and what is said of label smoothing comes from the record of the model that is open."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from tests.viz.pages.decoding.opening import app_at, opened
from tests.viz.sent import sent_to
from viz.access import models
from viz.pages.decoding.notices import percent
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection


@pytest.fixture
def trained(recorded_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint whose record says that it was trained with a label smoothing of 0.2."""
    folder = Path(shutil.copytree(recorded_checkpoints / "en-de", tmp_path / "en-de"))
    record = folder / "training.json"
    content = json.loads(record.read_text(encoding="utf-8"))
    content["settings"]["smoothing"] = 0.2
    record.write_text(json.dumps(content), encoding="utf-8")
    manifest = folder / "manifest.json"
    listed = json.loads(manifest.read_text(encoding="utf-8"))
    listed["sha256"]["training.json"] = hashlib.sha256(record.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(listed), encoding="utf-8")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    return folder


def test_the_film_says_where_probabilities_end_and_why(trained: Path) -> None:
    app = opened(app_at("Film"))
    note = sent_to(app, "decode_player")[0][0]["note"]
    assert "label smoothing ε = 0.2" in note
    # 1 − 0.2 + 0.2 / 370 pieces
    assert "ends near 80%" in note


def test_a_model_whose_record_names_none_is_said_to_have_none() -> None:
    assert models.label_smoothing(Selection().model) is None


@pytest.mark.parametrize(
    ("probability", "shown"),
    [(0.0, "0.0%"), (0.0004, "< 0.1%"), (0.0949, "9.5%"), (0.5, "50%"), (0.9951, "99.5%"),
     (0.9999, "> 99.9%"), (1.0, "100.0%")],
)  # fmt: skip
def test_what_is_not_certain_never_reads_as_certain_nor_what_is_possible_as_impossible(
    probability: float, shown: str
) -> None:
    assert percent(probability) == shown
