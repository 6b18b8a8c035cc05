"""What a checkpoint says of itself, in tables and figures, with nothing read as markup."""

import csv

import pytest

from model.config import PRESETS
from model.decoding.cost import ParameterCounts, count_parameters
from model.description import Hyperparameters
from model.training_record import Curve, Measurement, Metrics, Score, TrainingLog
from tests.viz.page_run import traced
from viz.access import models
from viz.pages.model_card import data, facts, sections
from viz.pages.model_card.figures import PARTS, parameter_bars, training_curves
from viz.pages.model_card.sections import BANK, NUM_DRAWN, draw
from viz.selection.selection import Selection

COUNTS = [count_parameters(PRESETS[name]) for name in ("en-de", "base")]


def test_the_configuration_has_a_column_for_each_model() -> None:
    names = ("en-de", "base")
    columns, rows = facts.configuration([(name, Hyperparameters.of_config(PRESETS[name])) for name in names])
    assert [column.title for column in columns] == ["", "en-de", "base"]
    assert ("d_k", "32", "64") in rows
    assert ("Norm", "pre", "post") in rows
    assert rows[-1] == ("Parameters", "9,421,824", f"{COUNTS[1].total:,}")


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


def score(name: str, beam: int, bleu: float, sentences: int = 10) -> Score:
    return Score("python -m model evaluate", name, beam, bleu, 50.0, "tok:13a", sentences)


def test_scores_of_a_set_stand_in_one_row_and_what_is_unknown_is_a_dash() -> None:
    columns, rows = facts.scores(Metrics((score("a", 1, 30.04), score("b", 4, 20), score("a", 4, 31)), ()))
    assert [column.title for column in columns][2:] == ["BLEU, greedy", "chrF, greedy", "BLEU, beam 4"]
    assert rows == [("a", "10", "30.0", "50.0", "31.0"), ("b", "10", "–", "–", "20.0")]
    # Scores of a part of a set stand in a row of their own.
    _, rows = facts.scores(Metrics((score("a", 1, 30), score("a", 1, 40, sentences=5)), ()))
    assert [row[1] for row in rows] == ["10", "5"]


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
    named = [("set", "dev"), ("frames · both_right", "0.8"), ("best · layer", "1"), ("nouns · both_right", "0.3")]
    alone, shared = facts.tables(named)
    assert alone[1] == [("set", "dev"), ("best · layer", "1")]
    assert [column.title for column in shared[0]] == ["Measured", "both right"]
    assert shared[1] == [("frames", "0.8"), ("nouns", "0.3")]


@pytest.mark.parametrize(
    ("command", "subject"),
    [
        ("python -m model pronouns --json", "Pronouns"),
        ("python -m model align --data x", "Alignment"),
        ("python -m model copying", "Copying"),
        ("python -m model", "Measured"),
        ("make scores of pronouns", "Measured"),
        ("", "Measured"),
    ],
)
def test_a_measurement_is_named_by_its_command(command: str, subject: str) -> None:
    assert facts.subject(command) == subject


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


def test_a_section_ends_at_the_next_heading_and_its_lines_are_joined() -> None:
    text = "# t\n\n## What to expect\n\none\ntwo\n\nthree\n```sh\n# no heading\n```\n\n## Else\n\nfour\n"
    assert sections.card_section(text, "What to expect") == ["one two", "three ```sh # no heading ```"]
    assert sections.card_section(text, "Nothing") == []
    # The bank holds no sentence twice, and a seed draws the same twenty.
    assert len(BANK) == len(set(BANK)) == 120
    assert not any("animal" in sentence and "street" in sentence for sentence in BANK)
    assert all(sentence.strip() == sentence and sentence for sentence in BANK)
    assert draw(1) == draw(1)
    assert draw(1) != draw(2)
    assert len(set(draw(3))) == NUM_DRAWN == 20
