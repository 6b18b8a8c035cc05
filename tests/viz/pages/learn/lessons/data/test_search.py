"""What lessons say of beams, against the model's own probabilities of the same tokens."""

import pytest

from viz.pages.learn.lessons.data import search
from viz.pages.learn.lessons.data.shipped import Shipped

TEXT = "What time does the pharmacy close on Saturdays?"


def test_log_probabilities_are_sums_over_the_tokens(shipped: Shipped) -> None:
    found = search.greedy_and_beam(shipped, text=TEXT).found
    greedy = sum(step.log_prob for step in shipped.trace(TEXT).steps)
    assert found["greedy_log_prob"] == pytest.approx(greedy, abs=1e-3)
    assert found["greedy"] == shipped.translator.translate(TEXT)
    assert found["beam"] == shipped.translator.translate(TEXT, beam=4)


def test_a_score_is_the_sum_divided_by_the_penalty_of_its_length(shipped: Shipped) -> None:
    found = search.greedy_and_beam(shipped, text=TEXT).found
    length = len(shipped.trace(TEXT).steps)
    assert found["greedy_score"] == pytest.approx(float(found["greedy_log_prob"]) / ((5 + length) / 6) ** 0.6, rel=1e-5)


def test_the_beam_that_is_shown_keeps_at_most_its_width(shipped: Shipped) -> None:
    picture = search.living(shipped, text=TEXT).picture
    assert all(len(row) == 1 + search.WIDTH for row in picture.rows)  # type: ignore[union-attr]
    assert picture.rows[0][1].startswith(str(search.living(shipped, text=TEXT).found["first"]))  # type: ignore[union-attr]
