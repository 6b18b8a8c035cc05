"""Bars of parameters."""

import pytest

from model.config import PRESETS
from model.decoding.cost import count_parameters
from viz.pages.model_card.figures import PARTS, parameter_bars

COUNTS = [count_parameters(PRESETS[name]) for name in ("en-de", "base")]


def test_bars_hold_every_part_twice_in_millions_and_as_a_share() -> None:
    figure = parameter_bars(["x", "y"], COUNTS)
    assert len(figure.data) == 2 * len(PARTS)
    above, below = figure.data[0::2], figure.data[1::2]
    assert [bar.name for bar in above] == [label for label, _colour in PARTS.values()]
    assert sum(bar.x[0] for bar in above) == pytest.approx(COUNTS[0].total / 1e6)
    assert [sum(bar.x[i] for bar in below) for i in (0, 1)] == pytest.approx([1, 1])
    assert figure.layout.barmode == "stack"
    assert tuple(figure.layout.yaxis.range) == (1.5, -0.5)


def test_models_of_the_same_name_keep_two_bars() -> None:
    figure = parameter_bars(["base", "base"], COUNTS)
    assert list(figure.layout.yaxis.tickvals) == [0, 1]
