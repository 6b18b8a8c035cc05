"""The experiments that ship, their cards and their table; what is told in numbers of the output of small models."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import sacrebleu

from model.adapters.folder_check import CONFIG
from model.analysis.ablations import outputs
from model.analysis.ablations.measure import by_length, release
from model.analysis.ablations.outputs import SharedWords
from model.analysis.ablations.results import AblationResults, RunResult, SetScore, differences_from_full, load_results
from model.analysis.ablations.table import told_apart
from model.checkpoint import verify
from model.config import read_config
from model.errors import DataError
from model.pairs import Pair
from model.training.ablations import ABLATIONS, FILM, RESULTS
from model.training_record import read_metrics
from tests.paths import ROOT

SHIPPED = ROOT / "checkpoints" / "experiments"


def test_every_preset_ships_within_26_megabytes() -> None:
    assert sorted(path.name for path in SHIPPED.iterdir() if path.is_dir()) == sorted(ABLATIONS)
    sizes = [file.stat().st_size for file in SHIPPED.glob("*/*")]
    assert sum(sizes) < 26_000_000
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


def test_quality_by_length_is_that_of_the_sentences_of_each_length() -> None:
    words = (1, 6, 7, 30, 10, 11, 15, 16, 20)
    references = ("Ja.", "Das ist gut.", "Der Hund schläft.", "Er kommt.", *["Er geht."] * 5)
    pairs = [Pair(" ".join(["a"] * count), target) for count, target in zip(words, references, strict=True)]
    outputs = ["Nein.", "Das ist gut.", "Der Hund schläft.", "Sie geht.", *references[4:]]
    found = by_length("dev", pairs, outputs)
    assert [(one.at_least, one.at_most, one.sentences) for one in found] == [
        (1, 6, 2), (7, 10, 2), (11, 15, 2), (16, 20, 2), (21, 30, 1),
    ]  # fmt: skip
    expected = sacrebleu.CHRF().corpus_score(outputs[:2], [list(references[:2])]).score
    assert found[0].chrf == pytest.approx(expected, abs=0.01)
    assert (found[1].chrf, found[4].chrf < 50) == (100.0, True)
    measured = [run for run in load_results(SHIPPED / RESULTS).runs if run.lengths]
    assert {"gru", "gru-without-attention"} <= {run.preset for run in measured}
    for run in measured:
        for score in run.scores:
            assert sum(one.sentences for one in run.lengths if one.set == score.set) == score.sentences


def test_a_release_of_the_runs_behind_it_is_what_ships(tmp_path: Path) -> None:
    runs, out, presets = tmp_path / "runs", tmp_path / "out", ["full", "gru"]
    for preset in presets:
        shutil.copytree(SHIPPED / preset, runs / f"{preset}-0" / "checkpoint")
    shutil.copy(SHIPPED / FILM, runs / "full-0" / FILM)
    results = load_results(SHIPPED / RESULTS)
    results = replace(results, runs=tuple(run for run in results.runs if run.preset in presets))
    assert sorted(release(runs, results, out)) == presets
    card = (out / "README.md").read_text(encoding="utf-8")
    assert [preset for preset in ABLATIONS if f"| [{preset}]({preset}) |" in card] == presets
    shipped = [SHIPPED / FILM, *(file for preset in presets for file in (SHIPPED / preset).iterdir())]
    for file in shipped:
        assert (out / file.relative_to(SHIPPED)).read_bytes() == file.read_bytes()
    with pytest.raises(DataError, match="No run with seed 9"):
        release(runs, results, out, seed=9)


def results(**bleu: list[tuple[float, float]]) -> AblationResults:
    """Preset → for each seed its BLEU on two sets."""
    runs = tuple(
        RunResult(
            preset.replace("_", "-"),
            seed,
            "0",
            830_000,
            3.0,
            tuple(SetScore(name, score, 2 * score, 10, "") for name, score in zip("ab", scores, strict=True)),
        )
        for preset, of_seeds in bleu.items()
        for seed, scores in enumerate(of_seeds)
    )
    return AblationResults(runs, {})


@pytest.mark.parametrize(
    ("bleu", "reading"),
    [
        # The full model's 4, 6 and 8 spread by 2 about 6.
        (3.9, "worse"),
        (4.0, "not told apart"),
        (8.0, "not told apart"),
        (8.1, "better"),
    ],
)
def test_a_difference_as_large_as_the_spread_does_not_count_yet(bleu: float, reading: str) -> None:
    of_both = results(full=[(4.0, 4.0), (6.0, 6.0), (8.0, 8.0)], gru=[(bleu, bleu)] * 3)
    assert told_apart(of_both, "gru", ("a", "b")) == reading
    assert told_apart(of_both, "full", ("a", "b")) is None


def run(preset: str, seed: int, bleu: float) -> RunResult:
    return RunResult(preset, seed, "0", 1, 1.0, (SetScore("dev", bleu, 2 * bleu, 10, "s"),))


def test_a_run_is_compared_with_the_full_model_of_its_seed_and_left_out_without_one() -> None:
    runs = (run("full", 0, 20.0), run("full", 1, 22.0), run("gru", 0, 19.5), run("gru", 1, 23.0), run("gru", 2, 1.0))
    assert differences_from_full(AblationResults(runs, {}), "gru", "dev") == {0: -0.5, 1: 1.0}
    assert differences_from_full(AblationResults(runs, {}), "gru", "other") == {}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Der Hund schläft.", "der hund schläft", SharedWords(3, 3, 3)),
        ("der Hund und der Hase", "und der Hund", SharedWords(5, 3, 2)),
        ("a a b", "a b b", SharedWords(3, 2, 2)),
        ("a b c d", "d c b a", SharedWords(4, 4, 1)),
        ("a b", "", SharedWords(2, 0, 0)),
        ("...", "a", SharedWords(0, 0, 0)),
    ],
)
def test_words_are_shared_as_often_as_both_have_them_and_counted_in_order(
    first: str, second: str, expected: SharedWords
) -> None:
    assert outputs.shared_words(first, second) == expected
