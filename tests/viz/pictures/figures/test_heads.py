"""Figures of a head: the weights they carry, their labels, colours and hover."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.viz.pictures.figures.invented import heatmap_of
from viz.pictures.figures.heads import head_rows
from viz.pictures.figures.matrix import MAX_HEIGHT

NAMES = ("L1 H1", "L1 H2", "L1 H3")
KEYS = ("▁The", "▁cat", "▁it", "</s>")
WEIGHTS = np.array([[0.7, 0.1, 0.1, 0.1], [0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]], np.float32)


def rows_of(weights: np.ndarray, keys: Sequence[str] = KEYS) -> go.Figure:
    return head_rows(weights, keys, names=NAMES)


def test_head_rows_hold_the_exact_weights_and_colours_by_their_root() -> None:
    heatmap = heatmap_of(rows_of(WEIGHTS))
    np.testing.assert_array_equal(heatmap.customdata, WEIGHTS)
    np.testing.assert_allclose(heatmap.z, np.sqrt(WEIGHTS))
    assert (heatmap.zmin, heatmap.zmax) == (0, 1)


def test_head_rows_has_a_named_row_for_each_head_and_keys_as_columns() -> None:
    figure = rows_of(WEIGHTS)
    assert list(figure.layout.yaxis.ticktext) == list(NAMES)
    assert list(figure.layout.xaxis.ticktext) == ["▁The", "▁cat", "▁it", "&lt;/s&gt;"]
    assert tuple(figure.layout.yaxis.range) == (2.5, -0.5)
    assert figure.layout.xaxis.side == "top"


def test_head_rows_have_a_colour_bar_in_weights() -> None:
    bar = heatmap_of(rows_of(WEIGHTS)).colorbar
    np.testing.assert_allclose(np.square(bar.tickvals), [float(text) for text in bar.ticktext])
    assert bar.title.text == "weight"


def test_head_rows_show_token_and_exact_weight_on_hover() -> None:
    template = heatmap_of(rows_of(WEIGHTS)).hovertemplate
    assert "%{y}" in template
    assert "%{x}" in template
    assert "%{customdata:.4f}" in template


def test_same_arrays_give_the_same_figure() -> None:
    assert rows_of(WEIGHTS) == rows_of(WEIGHTS.copy())


def test_a_long_sentence_does_not_make_the_figure_endless() -> None:
    tokens = [f"t{i}" for i in range(300)]
    figure = head_rows(np.full((300, 300), 1 / 300, np.float32), tokens, names=tokens)
    assert figure.layout.height == MAX_HEIGHT
    assert heatmap_of(figure).xgap == 0


def test_wrong_number_of_tokens_is_a_programmers_mistake() -> None:
    with pytest.raises(AssertionError):
        rows_of(WEIGHTS, KEYS[:-1])
