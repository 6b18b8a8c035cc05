"""Axes of tokens: places, labels, and that rows run down and columns across."""

from html import unescape

import numpy as np
import pytest

from viz.pictures.figures.charts import (
    MAX_COLUMN_LABELS,
    MAX_ONE_BY_ONE,
    MAX_ROW_LABELS,
    column_axis,
    full_axis,
    row_axis,
    token_labels,
    whole_numbers,
)
from viz.text.token_text import display_token

QUERIES = ("▁it", "▁was", "▁it")


def test_a_piece_that_occurs_twice_keeps_two_places() -> None:
    axis = row_axis(token_labels(QUERIES))
    assert axis["tickvals"] == [0, 1, 2]
    assert axis["ticktext"] == ["▁it", "▁was", "▁it"]


@pytest.mark.parametrize(
    "token", ["<br>", "<a href='http://evil.example'>x</a>", "<b>bold</b>", "&lt;b&gt;", "<img src=x onerror=alert(1)>"]
)
def test_labels_leave_plotly_no_markup(token: str) -> None:
    (label,) = token_labels([token])
    assert "<" not in label
    assert unescape(label) == display_token(token)


@pytest.mark.parametrize("token", ["\x00", "\n", "\u202e", "\u200b", ""])
def test_an_invisible_token_gets_a_visible_label(token: str) -> None:
    (label,) = token_labels([token])
    assert label.strip()
    assert label.isprintable()


def test_rows_are_read_from_top_to_bottom_and_columns_from_left_to_right() -> None:
    assert row_axis(["a", "b", "c"])["range"] == [2.5, -0.5]
    assert column_axis(["a", "b", "c"])["range"] == [-0.5, 2.5]


@pytest.mark.parametrize("count", [1, 31, 32, 33, 64, 65, 200, 512])
def test_labels_are_thinned_out_evenly_and_never_too_many(count: int) -> None:
    labels = [str(i) for i in range(count)]
    for axis, limit in ((row_axis(labels), MAX_ROW_LABELS), (column_axis(labels), MAX_COLUMN_LABELS)):
        assert len(axis["tickvals"]) <= limit
        assert len(set(np.diff(axis["tickvals"]))) <= 1
        assert axis["ticktext"] == [str(position) for position in axis["tickvals"]]


def test_the_hover_knows_every_label_also_where_ticks_are_thinned_out() -> None:
    assert full_axis([str(i) for i in range(500)], shares="x")["ticktext"] == [str(i) for i in range(500)]


def test_a_short_axis_of_whole_numbers_has_a_tick_for_each_and_a_long_one_those_that_plotly_finds() -> None:
    assert whole_numbers(1)["dtick"] == 1
    assert whole_numbers(MAX_ONE_BY_ONE)["dtick"] == 1
    assert "dtick" not in whole_numbers(MAX_ONE_BY_ONE + 1)
