"""Two sentences aligned, and the difference of a head between them."""

import numpy as np

from tests.viz.pictures.figures.invented import heatmap_of
from viz.pictures.figures.heads import align, difference_heatmap, row_difference


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
    figure = difference_heatmap(np.array([[0.3, -0.5]], np.float32), ["a", "b"], ["L1 H1"])
    assert heatmap_of(figure).zmin == -0.5
    assert heatmap_of(figure).zmax == 0.5
