"""The experiments that ship: each is its preset's model, and its cards say what was measured."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from model.analysis.ablations.measure import _card, _card_of_all, release
from model.analysis.ablations.results import load_results
from model.analysis.ablations.table import ablations_report
from model.checkpoint import CONFIG, verify
from model.config import read_config
from model.errors import DataError
from model.training.ablations import ABLATIONS, FILM, RESULTS
from model.training.film import load_film
from model.training_record import read_metrics
from tests.paths import ROOT

SHIPPED = ROOT / "checkpoints" / "experiments"


def test_every_preset_ships_within_24_megabytes() -> None:
    assert sorted(path.name for path in SHIPPED.iterdir() if path.is_dir()) == sorted(ABLATIONS)
    sizes = [file.stat().st_size for file in SHIPPED.glob("*/*")]
    assert sum(sizes) < 24_000_000
    assert (SHIPPED / FILM).stat().st_size < 4_000_000


@pytest.mark.parametrize("preset", ABLATIONS)
def test_a_shipped_model_is_its_presets_and_says_what_was_measured(preset: str) -> None:
    verify(SHIPPED / preset)
    assert read_config((SHIPPED / preset / CONFIG).read_text(encoding="utf-8")) == ABLATIONS[preset].config
    (run,) = (run for run in load_results(SHIPPED / RESULTS).runs if (run.preset, run.seed) == (preset, 0))
    metrics = read_metrics(SHIPPED / preset)
    assert metrics is not None
    assert [(score.set, score.bleu, score.chrf) for score in metrics.scores] == [
        (score.set, score.bleu, score.chrf) for score in run.scores
    ]


def test_every_card_is_what_a_release_of_these_results_writes() -> None:
    results = load_results(SHIPPED / RESULTS)
    cards = {run.preset: _card(ABLATIONS[run.preset], results, run) for run in results.runs if run.seed == 0}
    cards[""] = _card_of_all(results, 0)
    assert {folder: (SHIPPED / folder / "README.md").read_text(encoding="utf-8") for folder in cards} == cards
    assert ablations_report(results) in cards[""]


def test_a_release_of_the_runs_behind_it_is_what_ships(tmp_path: Path) -> None:
    runs, out, presets = tmp_path / "runs", tmp_path / "out", ["full", "gru"]
    for preset in presets:
        shutil.copytree(SHIPPED / preset, runs / f"{preset}-0" / "checkpoint")
    shutil.copy(SHIPPED / FILM, runs / "full-0" / FILM)
    results = load_results(SHIPPED / RESULTS)
    results = replace(results, runs=tuple(run for run in results.runs if run.preset in presets))
    assert sorted(release(runs, results, out)) == presets
    shipped = [SHIPPED / FILM, *(file for preset in presets for file in (SHIPPED / preset).iterdir())]
    for file in shipped:
        assert (out / file.relative_to(SHIPPED)).read_bytes() == file.read_bytes()
    with pytest.raises(DataError, match="No run of seed 9"):
        release(runs, results, out, seed=9)


def test_the_film_that_ships_is_of_the_full_model() -> None:
    film = load_film(SHIPPED / FILM)
    assert film.run["preset"] == "full"
    assert len(film.steps) == 30
    assert film.steps[-1] == ABLATIONS["full"].settings.steps
