"""The tables that `python -m model claims` prints."""

import pytest

from model.__main__ import main
from model.analysis import layer_kinds
from model.analysis.layer_kinds import KINDS, LayerTime, LayerTimes, Settings
from model.analysis.measured_cost import MeasuredCost
from model.analysis.report import layers_report, scores_report, steadiness_report
from model.analysis.scoring import ScoreCost


def cost(seconds: float) -> MeasuredCost:
    return MeasuredCost(seconds, 1.5 * seconds, 2_000_000)


def layer_times() -> LayerTimes:
    """Every layer takes n² d nanoseconds, whatever it is, but the GRU takes ten times n d²."""

    def seconds(kind: str, n: int, d: int) -> float:
        return 1e-9 * (10 * n * d * d if kind == "recurrent" else n * n * d)

    over_length = tuple(
        LayerTime(kind, n, 16, "cpu", cost(seconds(kind, n, 16))) for kind in KINDS for n in (64, 128, 256, 512)
    )
    over_width = tuple(
        LayerTime(kind, 128, d, "cpu", cost(seconds(kind, 128, d))) for kind in KINDS for d in (16, 32, 64, 128)
    )
    return LayerTimes(Settings(), 512, 16, over_length, over_width)


def test_the_largest_size_stands_beside_the_dot_product() -> None:
    costs = [ScoreCost("dot", 64, "cpu", cost(9.0)), ScoreCost("dot", 128, "cpu", cost(0.001))]
    report = scores_report([*costs, ScoreCost("additive", 128, "cpu", cost(0.004))], 8)
    _, _, dot, additive = map(str.split, report.splitlines())
    assert dot == ["dot", "cpu", "131,072", "0", "1.000", "1.0", "2.0"]
    assert additive == ["additive", "cpu", "262,144", "131,072", "4.000", "4.0", "2.0"]


def test_measured_exponents_stand_beside_the_papers() -> None:
    rows = {line.split()[0]: line.split() for line in layers_report(layer_times()).splitlines() if " cpu " in line}
    assert rows["self-attention"][-4:] == ["2", "2.0", "1", "1.0"]
    assert rows["recurrent"][-4:] == ["1", "1.0", "2", "2.0"]
    assert rows["restricted"][-4:] == ["1", "2.0", "1", "1.0"]
    assert rows["recurrent"][3] == "512"


def test_where_the_curves_cross_is_said() -> None:
    # n² d = 10 n d² at n = 10 d = 160.
    assert "by the clock at n = 160" in layers_report(layer_times())


def test_a_busy_machine_is_seen() -> None:
    assert "took 1.50 times as long" in steadiness_report([ScoreCost("dot", 64, "cpu", cost(1.0))], layer_times())


def test_the_command_prints_both_tables(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(layer_kinds, "WIDEST", 16)
    assert main(["claims", "--size", "64", "--width", "16"]) == 0
    printed = capsys.readouterr().out
    assert "Scores of 64 queries" in printed
    assert "One layer of 64 positions" in printed
    assert main(["claims", "--size", str(2**20)]) == 2
    assert "Choose a smaller size" in capsys.readouterr().err
