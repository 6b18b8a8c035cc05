"""What the table of ablations says of a preset, in words."""

from model.analysis.ablations.results import AblationResults, RunResult, SetScore
from model.analysis.ablations.table import ablations_report


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


def test_only_what_holds_on_every_set_and_beyond_the_spread_is_called_worse_or_better() -> None:
    report = ablations_report(
        results(
            full=[(10.0, 20.0), (10.2, 20.2)],
            single_head=[(9.0, 19.0), (9.2, 19.2)],
            two_heads=[(9.0, 20.0), (9.2, 20.2)],
            no_positions=[(5.0, 25.0), (5.2, 25.2)],
            additive=[(8.0, 18.0), (11.0, 21.0)],
            gru=[(12.0, 22.0), (12.2, 22.2)],
        )
    )
    assert "\n  worse: single-head\n" in report
    assert "\n  better: gru\n" in report
    assert "\n  not told apart: two-heads, no-positions, additive\n" in report


def test_one_seed_tells_nothing_apart() -> None:
    assert "worse" not in ablations_report(results(full=[(10.0, 20.0)], single_head=[(1.0, 2.0)]))
