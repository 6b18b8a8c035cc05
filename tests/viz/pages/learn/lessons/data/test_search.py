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


def test_the_winner_of_the_beam_leads_from_the_step_that_is_named_and_not_before(shipped: Shipped) -> None:
    text = "I have never seen such a small dog carry such a big stick."
    shown, beam = search.living(shipped, text=text), shipped.translator.translate(text, beam=search.WIDTH)
    leaders = [row[1].rpartition(" (")[0] for row in shown.picture.rows]  # type: ignore[union-attr]
    leads = int(shown.found["leads"])
    assert not beam.startswith(leaders[leads - 2])
    assert all(beam.startswith(leader) for leader in leaders[leads - 1 :])
    assert leaders[leads - 2].split()[-1] == shown.found["first"]
    assert f"{leaders[leads - 2].rpartition(' ')[0]} {shown.found['winner']} " in beam
