"""Figures: axes of tokens, heads, comparisons, maps, and where they show heads and words."""

from collections.abc import Sequence
from html import unescape

import numpy as np
import plotly.graph_objects as go
import pytest

from viz.pictures.figures import charts
from viz.pictures.figures.charts import (
    MAX_ONE_BY_ONE,
    column_axis,
    full_axis,
    row_axis,
    row_labels,
    token_labels,
    whole_numbers,
)
from viz.pictures.figures.heads import align, difference_heatmap, head_map, head_rows, row_difference, signed_scale
from viz.pictures.focus import FocusAxis, FocusHead, Groups, Place, axes, head
from viz.text.written import CROSS, DECODER, ENCODER, display_token


def heatmap_of(figure: go.Figure) -> go.Heatmap:
    return figure.data[0]


QUERIES = ("▁it", "▁was", "▁it")


def test_axes_keep_two_places_for_a_piece_that_occurs_twice_and_read_as_people_do() -> None:
    axis = row_axis(token_labels(QUERIES))
    assert axis["tickvals"] == [0, 1, 2]
    assert axis["ticktext"] == ["▁it", "▁was", "▁it"]
    assert row_axis(["a", "b", "c"])["range"] == [2.5, -0.5]
    assert column_axis(["a", "b", "c"])["range"] == [-0.5, 2.5]
    # Upright labels are read from below.
    assert column_axis(["a"])["tickangle"] == -90
    assert full_axis([str(i) for i in range(500)], shares="x")["ticktext"] == [str(i) for i in range(500)]
    assert whole_numbers(1)["dtick"] == 1
    assert whole_numbers(MAX_ONE_BY_ONE)["dtick"] == 1
    assert "dtick" not in whole_numbers(MAX_ONE_BY_ONE + 1)


@pytest.mark.parametrize(
    "token", ["<br>", "<a href='http://evil.example'>x</a>", "<b>bold</b>", "&lt;b&gt;", "<img src=x onerror=alert(1)>"]
)
def test_labels_leave_plotly_no_markup(token: str) -> None:
    (label,) = token_labels([token])
    assert "<" not in label
    assert unescape(label) == display_token(token)


NAMES = ("L1 H1", "L1 H2", "L1 H3")
KEYS = ("▁The", "▁cat", "▁it", "</s>")
WEIGHTS = np.array([[0.7, 0.1, 0.1, 0.1], [0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]], np.float32)


def rows_of(weights: np.ndarray, keys: Sequence[str] = KEYS) -> go.Figure:
    return head_rows(weights, keys, number="weight", top=1.0, names=NAMES, marked=None)


def test_head_rows_hold_the_exact_weights_of_each_head_with_their_tokens() -> None:
    heatmap = heatmap_of(rows_of(WEIGHTS))
    np.testing.assert_array_equal(heatmap.customdata, WEIGHTS)
    np.testing.assert_allclose(heatmap.z, np.sqrt(WEIGHTS))
    assert (heatmap.zmin, heatmap.zmax) == (0, 1)
    figure = rows_of(WEIGHTS)
    assert list(figure.layout.yaxis.ticktext) == list(NAMES)
    assert list(figure.layout.xaxis.ticktext) == ["▁The", "▁cat", "▁it", "&lt;/s&gt;"]
    assert tuple(figure.layout.yaxis.range) == (2.5, -0.5)
    assert figure.layout.xaxis.side == "top"
    bar = heatmap_of(rows_of(WEIGHTS)).colorbar
    np.testing.assert_allclose(np.square(bar.tickvals), [float(text) for text in bar.ticktext])
    assert bar.title.text == "weight"
    template = heatmap_of(rows_of(WEIGHTS)).hovertemplate
    assert "%{y}" in template
    assert "%{x}" in template
    assert "%{customdata:.4f}" in template
    assert rows_of(WEIGHTS) == rows_of(WEIGHTS.copy())
    with pytest.raises(AssertionError):
        rows_of(WEIGHTS, KEYS[:-1])


def test_equal_tokens_are_aligned_in_order_and_what_only_one_has_is_left_out() -> None:
    alignment = align(["a", "b", "c", "d"], ["a", "b", "x", "d"])
    assert alignment.first == alignment.second == (0, 1, 3)
    assert alignment.only_first == alignment.only_second == (2,)
    alignment = align(["a", "b", "c"], ["a", "x", "y", "b", "c"])
    assert alignment.first == (0, 1, 2)
    assert alignment.second == (0, 3, 4)
    assert alignment.only_first == ()
    assert alignment.only_second == (1, 2)
    assert align(["a"], ["b"]).first == ()
    tokens = ["the", "x"] * 150
    assert align(tokens, tokens).first == tuple(range(300))


def test_difference_is_second_minus_first_and_its_heatmap_centred_on_zero() -> None:
    alignment = align(["a", "b"], ["x", "a", "b"])
    first = np.array([[0.4, 0.6]], np.float32)
    second = np.array([[0.1, 0.7, 0.2]], np.float32)
    np.testing.assert_allclose(row_difference(first, second, alignment), [[0.3, -0.4]], atol=1e-6)
    figure = difference_heatmap(np.array([[0.3, -0.5]], np.float32), ["a", "b"], ["L1 H1"], bound=0.1)
    assert heatmap_of(figure).zmin == -0.5
    assert heatmap_of(figure).zmax == 0.5


def test_a_map_is_dark_at_its_centre_and_tiny_differences_are_not_blown_up() -> None:
    figure = head_map(np.array([[0.5, 0.75], [0.4, 0.5]]), title="accuracy", centre=0.5, floor=0.1)
    heatmap = figure.data[0]
    assert (heatmap.zmin, heatmap.zmax) == (0.25, 0.75)
    flat = head_map(np.full((2, 2), 0.52), title="accuracy", centre=0.5, floor=0.1).data[0]
    assert (flat.zmin, flat.zmax) == (0.4, 0.6)
    scale = signed_scale("x", np.array([1e-6]), floor=0.1)
    assert (scale.low, scale.high) == (-0.1, 0.1)
    scale = signed_scale("x", np.array([1, -3]), floor=0.1)
    assert (scale.low, scale.high) == (-3, 3)
    assert scale.ticks == ((-3, "−3.00"), (-1.5, "−1.50"), (0, "0"), (1.5, "+1.50"), (3, "+3.00"))


def heads_of(figure: go.Figure) -> dict[tuple[str, int, int], list[float]]:
    return {tuple(spot[:3]): list(spot[3:]) for spot in figure.layout.meta["heads"]}


def test_a_cell_of_a_map_stands_for_the_head_of_its_row_and_column() -> None:
    figure = head_map(np.zeros((2, 3)), title="x", centre=0, floor=1, site=CROSS)
    assert heads_of(figure)[CROSS, 1, 2] == [1.5, 2.5, 0.5, 1.5]
    assert len(heads_of(figure)) == 6
    # Of no model that is open: nothing can be pointed at.
    assert head_map(np.zeros((2, 3)), title="x", centre=0, floor=1).layout.meta is None


def test_a_word_is_told_by_all_places_that_it_stands_for() -> None:
    figure = go.Figure()
    both = [Place("source", (1, 2)), Place("other source", (1,))]
    charts.spots(figure, words=[(both, charts.column_of(4, 2))], query=Place("source", [7]))
    assert figure.layout.meta["words"] == [
        [[{"side": "source", "tokens": [1, 2]}, {"side": "other source", "tokens": [1]}], 3.5, 4.5, -0.5, 1.5]
    ]
    assert figure.layout.meta["query"] == {"side": "source", "tokens": [7]}


SINGLE = ((0,), (1,), (2,))
WORDS = ((1,), (2, 3))


def test_labels_of_rows_have_in_bold_what_they_stand_for() -> None:
    names = ["die → <i>", "→ → es", "animal"]
    assert row_labels(names, rows_write=True) == ["die → <b>&lt;i&gt;</b>", "→ → <b>es</b>", "animal"]
    assert row_labels(names, rows_write=False) == ["<b>die</b> → &lt;i&gt;", "<b>→</b> → es", "animal"]


def test_rows_of_a_translation_are_known_by_what_they_write_and_others_by_what_they_read() -> None:
    def known(site: str, rows: Groups, *, rows_write: bool) -> FocusHead:
        return head("L1 H1", site, axes(site, rows_write=rows_write), rows, SINGLE)

    assert known(ENCODER, SINGLE, rows_write=False) == FocusHead(
        ENCODER, "L1 H1", FocusAxis("source"), FocusAxis("source")
    )
    alone = known(DECODER, WORDS, rows_write=False)
    assert (alone.rows, alone.columns) == (FocusAxis("target", groups=WORDS), FocusAxis("target"))
    for site, keys in ((CROSS, "source"), (DECODER, "target")):
        single = known(site, SINGLE, rows_write=True)
        assert (single.rows, single.columns) == (FocusAxis("target", ahead=1), FocusAxis(keys))
        # Rows that write pieces of one word are known by all of these pieces.
        assert known(site, WORDS, rows_write=True).rows.groups == [[2], [3, 4]]
