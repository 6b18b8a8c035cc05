"""Differences from the full model, seed by seed."""

from model.analysis.ablations.results import AblationResults, RunResult, SetScore, differences_from_full


def run(preset: str, seed: int, bleu: float) -> RunResult:
    return RunResult(preset, seed, "0", 1, 1.0, (SetScore("dev", bleu, 2 * bleu, 10, "s"),))


def test_a_run_is_compared_with_the_full_model_of_its_seed_and_left_out_without_one() -> None:
    runs = (run("full", 0, 20.0), run("full", 1, 22.0), run("gru", 0, 19.5), run("gru", 1, 23.0), run("gru", 2, 1.0))
    assert differences_from_full(AblationResults(runs, {}), "gru", "dev") == {0: -0.5, 1: 1.0}
    assert differences_from_full(AblationResults(runs, {}), "gru", "other") == {}
