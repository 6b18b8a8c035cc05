"""What a checkpoint says of itself, in tables and figures: the numbers, their labels, and nothing read as markup."""

import pytest

from model.config import PRESETS
from model.nn.parameter_counts import count_parameters
from model.training_record import Curve, Measurement, Metrics, Score, TrainingLog
from viz.core.html import Column, literal, table
from viz.pages.model_card import card, facts
from viz.pages.model_card.example_bank import BANK, NUM_DRAWN, draw
from viz.pages.model_card.figures import PART_LABELS, parameter_bars
from viz.pages.model_card.training_figures import MAX_MARKED, training_curves

HOSTILE = "<img src=https://evil.example/a.png> ![x](https://evil.example/b.png) \" onload='x"
COUNTS = [count_parameters(PRESETS[name]) for name in ("en-de", "base")]


# ---- tables ----


def test_a_table_shows_every_text_literally() -> None:
    clean = table([Column("a"), Column("b")], [("c", "d")], label="e")
    hostile = table([Column(HOSTILE), Column(HOSTILE)], [(HOSTILE, HOSTILE)], label=HOSTILE)
    assert hostile.count("<") == clean.count("<")
    assert hostile.count('"') == clean.count('"')


def test_control_characters_are_shown_as_signs() -> None:
    assert literal("a\x00b\n") == "a␀b␊"


def test_a_row_of_another_length_is_a_programmers_mistake() -> None:
    with pytest.raises(AssertionError):
        table([Column("a")], [("b", "c")], label="d")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (160436, "160,436"),
        (0.91, "0.91"),
        (0.73333333, "0.7333"),
        (1.0, "1"),
        (1234.5, "1,234.5"),
        (0.0007, "0.0007"),
        (1.23456e-5, "1.23e-05"),
        (0.0, "0"),
        (True, "yes"),
        (False, "no"),
        ("linear", "linear"),
    ],
)
def test_numbers_are_written_to_be_read(value: bool | float | str, shown: str) -> None:
    assert facts.number(value) == shown


def test_the_configuration_has_a_column_for_each_model() -> None:
    names = ("en-de", "base")
    columns, rows = facts.configuration([(name, PRESETS[name], count_parameters(PRESETS[name])) for name in names])
    assert [column.title for column in columns] == ["", "en-de", "base"]
    assert ("d_k", "32", "64") in rows
    assert ("Norm", "pre", "post") in rows
    assert rows[-1] == ("Parameters", "9,421,824", f"{COUNTS[1].total:,}")


# ---- vocabulary ----

PIECES = facts.pieces(("<pad>", "<0x41>", "▁The", "er", "\u202e"), (0,))


def test_pieces_are_told_apart() -> None:
    assert [piece.kind for piece in PIECES] == ["special", "byte", "begins a word", "within a word", "within a word"]
    assert PIECES[4].shown == "\\u202e"


@pytest.mark.parametrize(
    ("wanted", "ids"), [("", [0, 1, 2, 3, 4]), (" the", [2]), ("▁", [2]), ("ER", [3]), ("3", [3]), ("zz", [])]
)
def test_pieces_are_found_by_letters_or_id(wanted: str, ids: list[int]) -> None:
    assert [piece.id for piece in facts.matching(PIECES, wanted)] == ids


# ---- scores ----


def score(name: str, beam: int, bleu: float, sentences: int = 10) -> Score:
    return Score("python -m model evaluate", name, beam, bleu, 50.0, "tok:13a", sentences)


def test_scores_of_a_set_stand_in_one_row_and_what_is_unknown_is_a_dash() -> None:
    columns, rows = facts.scores(Metrics((score("a", 1, 30.04), score("b", 4, 20), score("a", 4, 31)), ()))
    assert [column.title for column in columns][2:] == ["BLEU, greedy", "chrF, greedy", "BLEU, beam 4"]
    assert rows == [("a", "10", "30.0", "50.0", "31.0"), ("b", "10", "–", "–", "20.0")]


def test_scores_of_a_part_of_a_set_stand_in_a_row_of_their_own() -> None:
    _, rows = facts.scores(Metrics((score("a", 1, 30), score("a", 1, 40, sentences=5)), ()))
    assert [row[1] for row in rows] == ["10", "5"]


def test_values_by_number_stand_apart() -> None:
    rows = (("best · head", 3), ("heads · 0 · 1", 0.5), ("best · of", "2 heads"))
    first, by_number = facts.measured(Measurement("x", rows))
    assert first == [("best · head", "3"), ("best · of", "2 heads")]
    assert by_number == [("heads · 0 · 1", "0.5")]


@pytest.mark.parametrize(
    ("command", "subject"),
    [
        ("python -m model pronouns --json", "Pronouns"),
        ("python -m model align --data x", "Alignment"),
        ("make scores", "Measured"),
        ("", "Measured"),
    ],
)
def test_a_measurement_is_named_by_its_command(command: str, subject: str) -> None:
    assert facts.subject(command) == subject


# ---- card ----


def test_a_section_ends_at_the_next_heading_and_its_lines_are_joined() -> None:
    text = "# t\n\n## What to expect\n\none\ntwo\n\nthree\n```sh\n# no heading\n```\n\n## Else\n\nfour\n"
    assert card.section(text, "What to expect") == ["one two", "three ```sh # no heading ```"]
    assert card.section(text, "Nothing") == []


# ---- example sentences ----


def test_the_bank_holds_no_sentence_twice_and_none_of_the_classics() -> None:
    assert len(BANK) == len(set(BANK)) == 120
    assert not any("animal" in sentence and "street" in sentence for sentence in BANK)
    assert all(sentence.strip() == sentence and sentence for sentence in BANK)


def test_a_seed_always_draws_the_same_twenty() -> None:
    assert draw(1) == draw(1)
    assert draw(1) != draw(2)
    assert len(set(draw(3))) == NUM_DRAWN == 20


# ---- figures ----


def test_bars_hold_every_part_twice_in_millions_and_as_a_share() -> None:
    figure = parameter_bars(["x", "y"], COUNTS)
    assert len(figure.data) == 2 * len(PART_LABELS)
    above, below = figure.data[0::2], figure.data[1::2]
    assert [bar.name for bar in above] == list(PART_LABELS.values())
    assert sum(bar.x[0] for bar in above) == pytest.approx(COUNTS[0].total / 1e6)
    assert [sum(bar.x[i] for bar in below) for i in (0, 1)] == pytest.approx([1, 1])
    assert figure.layout.barmode == "stack"
    assert tuple(figure.layout.yaxis.range) == (1.5, -0.5)


def test_models_of_the_same_name_keep_two_bars() -> None:
    figure = parameter_bars(["base", "base"], COUNTS)
    assert list(figure.layout.yaxis.tickvals) == [0, 1]


def test_labels_of_a_figure_leave_plotly_no_markup() -> None:
    figure = parameter_bars([HOSTILE], COUNTS[:1])
    assert "<" not in figure.layout.yaxis.ticktext[0]
    log = TrainingLog(
        Curve("loss", (1,), (2.0,)), Curve("learning_rate", (1,), (0.1,)), (Curve(HOSTILE, (1,), (3.0,)),)
    )
    assert "<" not in training_curves(log).data[2].name


def test_curves_stand_in_three_panels_over_the_same_steps() -> None:
    steps = tuple(range(MAX_MARKED + 1))
    loss, rate = Curve("loss", steps, tuple(map(float, steps))), Curve("learning_rate", (5, 10), (0.1, 0.2))
    figure = training_curves(TrainingLog(loss, rate, (Curve("a", (5,), (1.0,)), Curve("b", (5,), (2.0,)))))
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


def test_a_log_without_dev_scores_has_no_legend() -> None:
    log = TrainingLog(Curve("loss", (1,), (2.0,)), Curve("learning_rate", (), ()), ())
    assert training_curves(log).layout.showlegend is False
