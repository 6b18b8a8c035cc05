"""What lessons say of the small models, from the list of their results itself."""

import json
from pathlib import Path
from statistics import mean, stdev
from types import SimpleNamespace

import pytest

from model.errors import CheckpointError, DataError
from tests.paths import ROOT
from viz.access import models, traces
from viz.pages.learn.lessons.data import training
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.pictures import Rows
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.model_choice import ModelChoice


def test_bleu_is_the_mean_over_the_seeds_of_the_list(shipped: Shipped) -> None:
    runs = json.loads((ROOT / "checkpoints/experiments/ablations.json").read_text(encoding="utf-8"))["runs"]
    own = [
        score["bleu"]
        for run in runs
        if run["preset"] == "no-positions"
        for score in run["scores"]
        if score["set"] == "multi30k_val"
    ]
    found = training.bleu(shipped, presets=["full", "no-positions"], dev_set="multi30k_val").found
    assert found["no_positions"] == pytest.approx(mean(own))
    assert found["no_positions_deviation"] == pytest.approx(stdev(own))


@pytest.mark.parametrize(("length", "shown"), [(160, "a" * 160), (161, "a" * 160 + " …")])
def test_a_translation_without_an_end_is_cut_after_160_characters(
    shipped: Shipped, monkeypatch: pytest.MonkeyPatch, length: int, shown: str
) -> None:
    written = SimpleNamespace(translation="a" * length)
    monkeypatch.setattr(traces, "trace", lambda *_: written)
    picture = training.through(shipped, text="Tom loves Mary.", presets=["full"]).picture
    assert isinstance(picture, Rows)
    assert picture.rows[0][1] == shown


def test_without_small_models_an_error_says_what_is_missing(
    tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    choice = ModelChoice("en-de")
    tiny = Shipped(choice, models.translator(choice))
    with pytest.raises(CheckpointError):
        training.through(tiny, text="Tom loves Mary.", presets=["full"])
    with pytest.raises(DataError, match="no results of ablations"):
        training.bleu(tiny, presets=["full"], dev_set="multi30k_val")
