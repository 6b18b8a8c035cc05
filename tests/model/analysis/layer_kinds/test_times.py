"""Times of layers: what is measured, where curves cross, what is refused."""

import pytest
import torch

from model.analysis import layer_kinds
from model.analysis.layer_kinds import KINDS, LayerTime, Settings, crossing, layer_times
from model.analysis.measured_cost import MeasuredCost
from model.errors import DataError

CPU = torch.device("cpu")


def curve(*seconds: float) -> list[LayerTime]:
    costs = [MeasuredCost(value, value, 0) for value in seconds]
    return [LayerTime("recurrent", 16 << step, 8, "cpu", cost) for step, cost in enumerate(costs)]


def test_every_kind_is_measured_over_n_and_over_d(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_kinds, "WIDEST", 32)
    told: list[int] = []
    found = layer_times(64, 16, Settings(), [CPU], told.append)
    assert sum(told) == len(KINDS) * (3 + 2)
    for kind in KINDS:
        assert [one.length for one in found.of(kind, "cpu", over_length=True)] == [16, 32, 64]
        assert [one.width for one in found.of(kind, "cpu", over_length=False)] == [16, 32]
        assert found.exponents(kind, "cpu", over_length=True)[0] == pytest.approx(1, abs=0.8)


def test_curves_cross_between_two_sizes_by_their_logarithms() -> None:
    assert crossing(curve(1.0, 1.0, 4.0), curve(2.0, 2.0, 2.0)) == pytest.approx(32 * 2**0.5)


def test_curves_that_do_not_cross_say_so() -> None:
    assert crossing(curve(1.0, 1.0), curve(2.0, 2.0)) is None
    assert crossing(curve(3.0, 3.0), curve(2.0, 2.0)) == 0


def test_a_layer_too_large_for_the_memory_is_refused_before_anything_runs() -> None:
    with pytest.raises(DataError, match="10,000,000,000 positions"):
        layer_times(10**10, 64, Settings(), [CPU], lambda done: None)
