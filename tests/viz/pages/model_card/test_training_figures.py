"""Curves of a training."""

import pytest

from model.config import PRESETS
from model.decoding.cost import count_parameters
from model.training_record import Curve, TrainingLog
from viz.pages.model_card.figures import MAX_MARKED, parameter_bars, training_curves

HOSTILE = "<img src=https://evil.example/a.png> ![x](https://evil.example/b.png) \" onload='x"
COUNTS = [count_parameters(PRESETS[name]) for name in ("en-de", "base")]


def test_labels_of_a_figure_leave_plotly_no_markup() -> None:
    figure = parameter_bars([HOSTILE], COUNTS[:1])
    assert "<" not in figure.layout.yaxis.ticktext[0]
    log = TrainingLog(
        Curve("loss", (1,), (2.0,)), Curve("learning_rate", (1,), (0.1,)), (Curve(HOSTILE, (1,), (3.0,)),)
    )
    figure = training_curves(log)
    assert figure is not None
    assert "<" not in figure.data[2].name


def test_curves_stand_in_three_panels_over_the_same_steps() -> None:
    steps = tuple(range(MAX_MARKED + 1))
    loss, rate = Curve("loss", steps, tuple(map(float, steps))), Curve("learning_rate", (5, 10), (0.1, 0.2))
    figure = training_curves(TrainingLog(loss, rate, (Curve("a", (5,), (1.0,)), Curve("b", (5,), (2.0,)))))
    assert figure is not None
    assert [trace.yaxis for trace in figure.data] == ["y", "y2", "y3", "y3"]
    assert [trace.mode for trace in figure.data] == ["lines"] + ["lines+markers"] * 3
    assert [trace.showlegend for trace in figure.data] == [False, False, True, True]
    assert figure.layout.xaxis.matches == figure.layout.xaxis2.matches == "x3"
    assert [figure.layout[axis].title.text for axis in ("yaxis", "yaxis2", "yaxis3")] == [
        "loss",
        "learning rate",
        "BLEU",
    ]
    assert list(figure.data[1].x) == [5, 10]


LOSS, RATE, BLEU = Curve("loss", (1,), (2.0,)), Curve("learning_rate", (1,), (0.1,)), Curve("a", (1,), (3.0,))
NO_LOSS, NO_RATE = Curve("loss", (), ()), Curve("learning_rate", (), ())


@pytest.mark.parametrize(
    ("log", "panels"),
    [
        (TrainingLog(LOSS, RATE, (BLEU,)), ["loss", "learning rate", "BLEU"]),
        (TrainingLog(LOSS, NO_RATE, ()), ["loss"]),
        (TrainingLog(NO_LOSS, RATE, ()), ["learning rate"]),
        (TrainingLog(NO_LOSS, NO_RATE, (BLEU,)), ["BLEU"]),
        (TrainingLog(NO_LOSS, RATE, (Curve("b", (), ()), BLEU)), ["learning rate", "BLEU"]),
    ],
)
def test_a_log_of_one_step_has_a_panel_with_a_point_for_each_curve_that_it_knows(
    log: TrainingLog, panels: list[str]
) -> None:
    figure = training_curves(log)
    assert figure is not None
    assert [axis.title.text for axis in figure.select_yaxes()] == panels
    assert [(list(trace.x), trace.mode) for trace in figure.data] == [([1], "lines+markers")] * len(panels)
    assert figure.layout.showlegend is ("BLEU" in panels)
    assert {axis.dtick for axis in figure.select_xaxes()} == {1}, "no number comes twice"


def test_a_log_that_knows_nothing_has_no_picture() -> None:
    assert training_curves(TrainingLog(NO_LOSS, NO_RATE, ())) is None
