"""Metrics through a film: of each frame's own weights, over the rows of all sentences."""

import numpy as np
import pytest

from model.analysis.metrics.head_metrics import film_metrics
from model.training.film import Film, FilmSentence, Links


def film_of(encoder: np.ndarray, cross: np.ndarray, links: Links = ((1, (0,)), (2, (1, 2)))) -> Film:
    """One sentence of three words, two frames, one layer and one head."""
    causal = np.tril(np.full((3, 3), 85, dtype=np.uint8))
    sentence = FilmSentence(
        source="a b c",
        target="x y",
        source_tokens=("a", "b", "c"),
        target_tokens=("<s>", "x", "y"),
        links=links,
        translations=("", "x y"),
        weights={
            "encoder.self": encoder[:, None, None].astype(np.uint8),
            "decoder.self": np.stack([causal, causal])[:, None, None],
            "decoder.cross": cross[:, None, None].astype(np.uint8),
        },
    )
    return Film(run={}, steps=(0, 5), losses=(float("nan"), 1.0), scores={}, sentences=(sentence,))


def test_a_head_becomes_a_previous_token_head_in_the_frame_in_which_it_does() -> None:
    previous = np.array([[255, 0, 0], [255, 0, 0], [0, 255, 0]])
    film = film_of(np.stack([np.full((3, 3), 85), previous]), np.full((2, 3, 3), 85))
    metrics = film_metrics(film, "encoder.self")
    # The first row has no key before it.
    np.testing.assert_allclose(metrics["previous"][:, 0, 0], [1 / 3, 1], atol=1e-6)
    np.testing.assert_allclose(metrics["entropy"][:, 0, 0], [np.log2(3), 0], atol=1e-6)


def test_alignment_is_the_weight_on_the_words_that_a_word_renders() -> None:
    # Row 1 reads x, row 2 reads y; x renders a, y renders b and c.
    reads = np.array([[0, 0, 0], [255, 0, 0], [0, 102, 153]])
    predicts = np.array([[255, 0, 0], [0, 102, 153], [0, 0, 0]])
    metrics = film_metrics(film_of(np.full((2, 3, 3), 85), np.stack([reads, predicts])), "decoder.cross")
    assert metrics["word_in"][:, 0, 0].tolist() == pytest.approx([1, 0])
    assert metrics["word_out"][:, 0, 0].tolist() == pytest.approx([0, 1])


def test_a_link_of_the_first_row_is_predicted_by_no_row_and_not_by_the_last() -> None:
    flat = np.full((2, 3, 3), 85)
    weights = np.array([[0, 255, 0], [0, 255, 0], [0, 0, 255]])
    metrics = film_metrics(film_of(flat, np.stack([weights, weights]), ((0, (0,)), (1, (1,)))), "decoder.cross")
    assert metrics["word_out"][:, 0, 0].tolist() == pytest.approx([1, 1])
    assert metrics["word_in"][:, 0, 0].tolist() == pytest.approx([0.5, 0.5])
