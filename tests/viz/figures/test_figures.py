"""Figures: the numbers they carry, their labels, and that queries run down and keys across."""

from html import unescape

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.graph_objs._heatmap import Heatmap

from viz.core.token_text import display_token
from viz.figures.axes import MAX_COLUMN_LABELS, MAX_ROW_LABELS, column_axis, full_axis, row_axis, token_labels
from viz.figures.comparison import align, difference_heatmap, row_difference
from viz.figures.heads import head_heatmap, head_rows
from viz.figures.matrix import MAX_HEIGHT, signed_scale

QUERIES = ("▁it", "▁was", "▁it")
KEYS = ("▁The", "▁cat", "▁it", "</s>")
WEIGHTS = np.array([[0.7, 0.1, 0.1, 0.1], [0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]], np.float32)


def heatmap_of(figure: go.Figure) -> Heatmap:
    return figure.data[0]


# ---- axes ----


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


# ---- heads ----


def test_head_heatmap_holds_the_exact_weights_and_colours_by_their_root() -> None:
    heatmap = heatmap_of(head_heatmap(WEIGHTS, QUERIES, KEYS))
    np.testing.assert_array_equal(heatmap.customdata, WEIGHTS)
    np.testing.assert_allclose(heatmap.z, np.sqrt(WEIGHTS))
    assert (heatmap.zmin, heatmap.zmax) == (0, 1)


def test_head_heatmap_has_queries_as_rows_and_keys_as_columns() -> None:
    figure = head_heatmap(WEIGHTS, QUERIES, KEYS)
    assert list(figure.layout.yaxis.ticktext) == list(QUERIES)
    assert list(figure.layout.xaxis.ticktext) == ["▁The", "▁cat", "▁it", "&lt;/s&gt;"]
    assert tuple(figure.layout.yaxis.range) == (2.5, -0.5)
    assert figure.layout.xaxis.side == "top"


def test_head_heatmap_has_a_colour_bar_in_weights() -> None:
    bar = heatmap_of(head_heatmap(WEIGHTS, QUERIES, KEYS)).colorbar
    np.testing.assert_allclose(np.square(bar.tickvals), [float(text) for text in bar.ticktext])
    assert bar.title.text == "weight"


def test_head_heatmap_shows_token_and_exact_weight_on_hover() -> None:
    template = heatmap_of(head_heatmap(WEIGHTS, QUERIES, KEYS)).hovertemplate
    assert "%{y}" in template
    assert "%{x}" in template
    assert "%{customdata:.4f}" in template


def test_same_arrays_give_the_same_figure() -> None:
    assert head_heatmap(WEIGHTS, QUERIES, KEYS) == head_heatmap(WEIGHTS.copy(), QUERIES, KEYS)


def test_a_long_sentence_does_not_make_the_figure_endless() -> None:
    tokens = [f"t{i}" for i in range(300)]
    figure = head_heatmap(np.full((300, 300), 1 / 300, np.float32), tokens, tokens)
    assert figure.layout.height == MAX_HEIGHT
    assert heatmap_of(figure).xgap == 0


def test_wrong_number_of_tokens_is_a_programmers_mistake() -> None:
    with pytest.raises(AssertionError):
        head_heatmap(WEIGHTS, QUERIES, KEYS[:-1])


def test_head_rows_counts_heads_from_one() -> None:
    figure = head_rows(WEIGHTS, KEYS)
    assert list(figure.layout.yaxis.ticktext) == ["Head 1", "Head 2", "Head 3"]
    np.testing.assert_array_equal(heatmap_of(figure).customdata, WEIGHTS)


# ---- comparison ----


def test_equal_tokens_are_aligned_and_a_changed_word_is_left_out() -> None:
    alignment = align(["a", "b", "c", "d"], ["a", "b", "x", "d"])
    assert alignment.first == alignment.second == (0, 1, 3)
    assert alignment.only_first == alignment.only_second == (2,)


def test_sentences_of_different_length_are_aligned_behind_the_insertion() -> None:
    alignment = align(["a", "b", "c"], ["a", "x", "y", "b", "c"])
    assert alignment.first == (0, 1, 2)
    assert alignment.second == (0, 3, 4)
    assert alignment.only_first == ()
    assert alignment.only_second == (1, 2)


def test_nothing_in_common_gives_an_empty_alignment() -> None:
    assert align(["a"], ["b"]).first == ()


def test_a_repeated_token_is_aligned_in_order_also_in_long_sentences() -> None:
    tokens = ["the", "x"] * 150
    assert align(tokens, tokens).first == tuple(range(300))


def test_difference_is_second_minus_first_at_the_aligned_keys() -> None:
    alignment = align(["a", "b"], ["x", "a", "b"])
    first = np.array([[0.4, 0.6]], np.float32)
    second = np.array([[0.1, 0.7, 0.2]], np.float32)
    np.testing.assert_allclose(row_difference(first, second, alignment), [[0.3, -0.4]], atol=1e-6)


def test_difference_heatmap_is_centred_on_zero() -> None:
    figure = difference_heatmap(np.array([[0.3, -0.5]], np.float32), ["a", "b"])
    assert heatmap_of(figure).zmin == -0.5
    assert heatmap_of(figure).zmax == 0.5
    assert list(figure.layout.yaxis.ticktext) == ["Head 1"]


def test_tiny_differences_are_not_blown_up() -> None:
    scale = signed_scale("x", np.array([1e-6]), floor=0.1)
    assert (scale.low, scale.high) == (-0.1, 0.1)
