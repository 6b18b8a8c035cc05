"""Which models the tab opens on, and which head it shows of each."""

from pathlib import Path

import numpy as np
import pytest

from model import Translator
from viz.pages.paper.data import ablations
from viz.pages.paper.data.ablations import Output
from viz.selection import catalogue
from viz.server.background_jobs import Progress

TEXT = "The dog sleeps."


def test_the_farthest_is_least_like_the_reference_and_of_equal_ones_the_first() -> None:
    outputs = [Output("full", "a", 100), Output("b", "a", 30), Output("c", "a", 10), Output("d", "a", 10)]
    assert ablations.farthest(outputs) == "c"
    assert ablations.farthest(outputs[:1]) is None


def test_models_come_in_the_order_of_the_table_and_folders_of_other_names_are_left_out(
    experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(catalogue.ROOT_VARIABLE, str(experiment_checkpoints))
    known = catalogue.experiments()
    assert list(known) == ["full", "gru", "no-positions", "no-residual"]
    monkeypatch.setattr(catalogue, "experiments", lambda: known | {"mine": Path("mine")})
    assert ablations.presets() == ("full", "no-positions", "no-residual", "gru")


def test_without_a_choice_the_reference_and_the_farthest_are_measured(
    experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(catalogue.ROOT_VARIABLE, str(experiment_checkpoints))
    task = ablations.comparison_task(ablations.presets(), (), "cpu", TEXT)
    progress = Progress(task.total, task.unit)
    found = task.compute(progress)
    assert [one.output.preset for one in found.shown] == ["full", ablations.farthest(found.outputs)]
    assert [output.preset for output in found.outputs] == list(ablations.presets())
    assert progress.done == progress.total


def test_a_sentence_too_long_for_the_models_is_refused_with_a_reason(
    experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(catalogue.ROOT_VARIABLE, str(experiment_checkpoints))
    task = ablations.comparison_task(ablations.presets(), (), "cpu", "long " * 80)
    found = task.compute(Progress(task.total, task.unit))
    assert "tokens" in found.refused
    assert not found.shown


def test_the_surest_head_gives_one_key_the_most(translator: Translator) -> None:
    trace = translator.trace(TEXT)
    found = ablations.open_head(trace, "decoder.cross", None, None)
    assert found is not None

    def sureness(layer: int, head: int) -> float:
        # The end is no word: neither the row that reads it nor its key counts.
        weights = trace.weights("decoder.cross", layer)[head].numpy()
        return float(weights[:, :-1].max(1).mean())

    layers, heads = trace.shapes["decoder.cross"]
    best = max(sureness(layer, head) for layer in range(layers) for head in range(heads))
    assert sureness(found.layer, found.head) == pytest.approx(best)
    np.testing.assert_allclose(found.weights.sum(1), 1, rtol=1e-5)


def test_hard_rows_are_those_that_give_one_key_nearly_all() -> None:
    weights = np.array([[0.995, 0.005], [0.98, 0.02], [0.0, 1.0]], np.float32)
    assert ablations.OpenHead(0, 0, weights, ("a", "b", "c"), ("a", "b")).hard_rows == 2


def test_a_layer_and_a_head_that_are_asked_for_are_opened_or_there_is_none(translator: Translator) -> None:
    trace = translator.trace(TEXT)
    found = ablations.open_head(trace, "encoder.self", 1, 2)
    assert found is not None
    assert (found.layer, found.head) == (1, 2)
    assert ablations.open_head(trace, "encoder.self", 7, None) is None
    assert ablations.open_head(trace, "encoder.self", None, 7) is None


def test_rows_have_means_over_seeds_and_the_paper_s(
    experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(catalogue.ROOT_VARIABLE, str(experiment_checkpoints))
    results = ablations.results()
    assert results is not None
    rows = {row.preset: row for row in ablations.rows(results)}
    assert list(rows) == ["full", "single-head", "no-positions", "no-residual", "unscaled"]
    of_set = rows["no-positions"].sets["tatoeba_dev"]
    assert (of_set.bleu[0], of_set.chrf[0], of_set.differences) == (10.5, 21.0, {0: -11.0, 1: -10.0})
    assert of_set.difference == pytest.approx((-10.5, 0.5**0.5))
    assert (rows["single-head"].paper, rows["no-positions"].paper) == (-0.9, None)
    assert rows["full"].sets["tatoeba_dev"].difference is None


def test_without_a_file_there_are_no_results(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalogue.ROOT_VARIABLE, str(tiny_checkpoints))
    assert ablations.results() is None
