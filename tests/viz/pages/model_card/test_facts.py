"""What a checkpoint says of itself, in tables and figures, with nothing read as markup."""

import csv

import pytest

from model.config import PRESETS
from model.decoding.cost import ParameterCounts, count_parameters
from model.training_record import Curve, Measurement, TrainingLog
from tests.viz.page_run import traced
from viz.access import models
from viz.pages.model_card import data, facts
from viz.pages.model_card.figures import PARTS, parameter_bars, training_curves
from viz.selection.selection import Selection

COUNTS = [count_parameters(PRESETS[name]) for name in ("en-de", "base")]


PIECES = facts.pieces(("<pad>", "A", "▁The", "er", "\u202e"), (0,), (1,))


def test_pieces_are_told_apart() -> None:
    assert [piece.kind for piece in PIECES] == ["special", "byte", "begins a word", "within a word", "within a word"]
    assert PIECES[4].shown == "\\u202e"
    # No piece of the file is a formula.
    pieces = facts.pieces(("=cmd|' /C calc'!A0", "+1", "▁=", 'a"b,c'), (), ())
    rows = list(csv.reader(facts.pieces_table(pieces).decode("utf-8-sig").splitlines()))
    assert rows[0] == ["id", "piece", "kind"]
    assert [row[1] for row in rows[1:]] == ["'=cmd|'␣/C␣calc'!A0", "'+1", "▁=", 'a"b,c']
    assert [row[0] for row in rows[1:]] == ["0", "1", "2", "3"]


def test_values_of_heads_are_apart_and_heads_count_from_1() -> None:
    rows = (
        ("best · layer", 0), ("best · head", 3), ("in · heads · 0 · 1", 0.5), ("best · of", "2 heads"),
        ("heads · 2 · 0", 0.25), ("2 · 0", 0.75), ("layer", "none"), ("set", "tatoeba_dev"), ("pairs", 1234),
    )  # fmt: skip
    first, by_number = facts.measured(Measurement("x", rows))
    assert first == [
        ("best", "L1 H4"), ("best · of", "2 heads"), ("2 · 0", "0.75"), ("layer", "none"),
        ("set", "Tatoeba, dev set"), ("pairs", "1,234"),
    ]  # fmt: skip
    assert by_number == [("in · L1 H2", "0.5"), ("L3 H1", "0.25")]
    # Values whose names have the same parts share a table.
    named = [
        ("set of sentences", "dev"),
        ("sentence frames · both_right", "0.8"),
        ("best · layer", "1"),
        ("nouns · both_right", "0.3"),
    ]
    alone, shared = facts.tables(named)
    assert alone[1] == [("set of sentences", "dev"), ("best · layer", "1")]
    assert [column.title for column in shared[0]] == ["Measured", "both right"]
    assert shared[1] == [("sentence frames", "0.8"), ("new nouns", "0.3")]


HOSTILE = "<img src=https://evil.example/a.png> ![x](https://evil.example/b.png) \" onload='x"


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


TEXT = "The animal was tired."


def test_labels_of_a_figure_leave_plotly_no_markup() -> None:
    figure = parameter_bars([HOSTILE], COUNTS[:1])
    assert "<" not in figure.layout.yaxis.ticktext[0]
    log = TrainingLog(
        Curve("loss", (1,), (2.0,)), Curve("learning_rate", (1,), (0.1,)), (Curve(HOSTILE, (1,), (3.0,)),)
    )
    figure = training_curves(log)
    assert figure is not None
    assert "<" not in figure.data[2].name


def test_bars_hold_every_part_twice_in_millions_and_as_a_share() -> None:
    figure = parameter_bars(["x", "y"], COUNTS)
    assert len(figure.data) == 2 * len(PARTS)
    above, below = figure.data[0::2], figure.data[1::2]
    assert [bar.name for bar in above] == [label for label, _colour in PARTS.values()]
    assert sum(bar.x[0] for bar in above) == pytest.approx(COUNTS[0].total / 1e6)
    assert [sum(bar.x[i] for bar in below) for i in (0, 1)] == pytest.approx([1, 1])
    assert figure.layout.barmode == "stack"
    assert tuple(figure.layout.yaxis.range) == (1.5, -0.5)
    assert [bar.showlegend for bar in figure.data] == [True, False] * len(PARTS)
    assert len({bar.marker.color for bar in above}) == len(PARTS)
    # A share is written where it has room: from 7 % on.
    counts = ParameterCounts(**dict(zip(PARTS, (60, 20, 7, 6, 5, 2, 0), strict=True)))
    drawn = parameter_bars(["x"], [counts]).data
    assert [bar.text[0] for bar in drawn[1::2]] == ["60%", "20%", "7%", *[""] * 4]
    assert {bar.text[0] for bar in drawn[0::2]} == {""}
    # Models of the same name keep two bars.
    figure = parameter_bars(["base", "base"], COUNTS)
    assert list(figure.layout.yaxis.tickvals) == [0, 1]


def test_shapes_translations_and_missing_records_are_those_of_the_checkpoint(selection: Selection) -> None:
    shapes = data.shapes(selection.model)
    assert [name for name, _ in shapes] == ["en-de", "base (paper)", "big (paper)"]
    real = sum(parameter.numel() for parameter in models.translator(selection.model).model.parameters())
    assert shapes[0][1].counts.total == real
    # A translation is the one of the trace.
    translator = models.translator(selection.model)
    assert data.translation(translator, TEXT) == traced(TEXT, selection).translation
    # A checkpoint without a record says nothing of its making.
    assert data.training(selection.model) is None
    assert data.training_log(selection.model) is None
    assert data.metrics(selection.model) is None
    assert data.card(selection.model) == "Random weights, for tests.\n"
