"""What a checkpoint says of itself, in tables and figures: the numbers, their labels, and nothing read as markup."""

import csv

import pytest

from model.config import PRESETS
from model.decoding.cost import count_parameters
from model.training_record import Measurement, Metrics, Score
from viz.pages.model_card import facts

COUNTS = [count_parameters(PRESETS[name]) for name in ("en-de", "base")]


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


PIECES = facts.pieces(("<pad>", "A", "▁The", "er", "\u202e"), (0,), (1,))


def test_pieces_are_told_apart() -> None:
    assert [piece.kind for piece in PIECES] == ["special", "byte", "begins a word", "within a word", "within a word"]
    assert PIECES[4].shown == "\\u202e"


def test_no_piece_of_the_file_is_a_formula() -> None:
    pieces = facts.pieces(("=cmd|' /C calc'!A0", "+1", "▁=", 'a"b,c'), (), ())
    rows = list(csv.reader(facts.pieces_table(pieces).decode("utf-8-sig").splitlines()))
    assert rows[0] == ["id", "piece", "kind"]
    assert [row[1] for row in rows[1:]] == ["'=cmd|'␣/C␣calc'!A0", "'+1", "▁=", 'a"b,c']
    assert [row[0] for row in rows[1:]] == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    ("wanted", "ids"), [("", [0, 1, 2, 3, 4]), (" the", [2]), ("▁", [2]), ("ER", [3]), ("3", [3]), ("zz", [])]
)
def test_pieces_are_found_by_letters_or_id(wanted: str, ids: list[int]) -> None:
    assert [piece.id for piece in facts.matching(PIECES, wanted)] == ids


def score(name: str, beam: int, bleu: float, sentences: int = 10) -> Score:
    return Score("python -m model evaluate", name, beam, bleu, 50.0, "tok:13a", sentences)


def test_scores_of_a_set_stand_in_one_row_and_what_is_unknown_is_a_dash() -> None:
    columns, rows = facts.scores(Metrics((score("a", 1, 30.04), score("b", 4, 20), score("a", 4, 31)), ()))
    assert [column.title for column in columns][2:] == ["BLEU, greedy", "chrF, greedy", "BLEU, beam 4"]
    assert rows == [("a", "10", "30.0", "50.0", "31.0"), ("b", "10", "–", "–", "20.0")]


def test_scores_of_a_part_of_a_set_stand_in_a_row_of_their_own() -> None:
    _, rows = facts.scores(Metrics((score("a", 1, 30), score("a", 1, 40, sentences=5)), ()))
    assert [row[1] for row in rows] == ["10", "5"]


def test_values_of_heads_are_apart_and_heads_count_from_1() -> None:
    rows = (("best · layer", 0), ("best · head", 3), ("in · heads · 0 · 1", 0.5), ("best · of", "2 heads"))
    first, by_number = facts.measured(Measurement("x", rows))
    assert first == [("best", "L1 H4"), ("best · of", "2 heads")]
    assert by_number == [("in · L1 H2", "0.5")]


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


def test_values_whose_names_have_the_same_parts_share_a_table() -> None:
    rows = [("set", "dev"), ("frames · both_right", "0.8"), ("best · layer", "1"), ("nouns · both_right", "0.3")]
    alone, shared = facts.tables(rows)
    assert alone[1] == [("set", "dev"), ("best · layer", "1")]
    assert [column.title for column in shared[0]] == ["Measured", "both right"]
    assert shared[1] == [("frames", "0.8"), ("nouns", "0.3")]
