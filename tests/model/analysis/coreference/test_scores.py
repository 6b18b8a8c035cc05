"""What a head that was told where to look scores, the baselines, and controls apart."""

from dataclasses import replace

import pytest
import torch

from model.analysis.coreference.cases import PronounCase
from model.analysis.coreference.pronoun_rows import CandidateWeights
from model.analysis.coreference.scores import first_hit, half_of, hits, nearest_hit, score_site
from tests.model.analysis.coreference.rows import CASE


def planted_weights(cases: list[PronounCase]) -> CandidateWeights:
    """Head 1.3 looks at the antecedent, head 0.0 at the distractor; all others look at both alike."""
    to = torch.full((len(cases), 2, 5, 2), 0.1)
    to[:, 1, 3] = torch.tensor([0.7, 0.2])
    to[:, 0, 0] = torch.tensor([0.2, 0.7])
    return CandidateWeights(to, to.flip(-1), 1 - to)


def test_a_head_that_follows_the_antecedent_is_always_right() -> None:
    cases = [replace(CASE, pair=f"pair {i // 2}") for i in range(20)]
    scores = score_site("encoder.self", "raw", cases, planted_weights(cases), {})
    assert scores is not None
    assert scores.best == (1, 3)
    assert scores.accuracy.at(1, 3) == (1, 1, 1)
    assert scores.accuracy.at(0, 0) == (0, 0, 0)
    assert scores.accuracy.value[0, 1:].tolist() == [0.5, 0.5, 0.5]
    assert scores.margin.at(1, 3) == pytest.approx((0.5, 0.5, 0.5))
    assert scores.strongest_word.at(1, 3)[0] == 0
    assert scores.reverse is not None
    assert scores.reverse.at(1, 3)[0] == 0
    assert scores.cross_selected == 1
    assert all(one.head == (1, 3) and one.beats_nearest for one in scores.held_out)
    assert sum(one.rows for one in scores.held_out) == 20


def test_controls_are_counted_apart() -> None:
    cases = [CASE, replace(CASE, is_control=True), CASE]
    weights = planted_weights(cases)
    weights.to[1] = 0.3
    scores = score_site("encoder.self", "raw", cases, weights, {})
    assert scores is not None
    assert scores.controls is not None
    assert (len(scores.cases), scores.controls.rows) == (2, 1)
    torch.testing.assert_close(scores.controls.weight, torch.full((2, 4), 0.6))
    assert float(scores.controls.weight_of_scored[1, 3]) == pytest.approx(0.9)
    assert score_site("encoder.self", "raw", [replace(CASE, is_control=True)], planted_weights([CASE]), {}) is None


def test_equal_weights_count_half() -> None:
    assert hits(torch.tensor([[0.2, 0.1], [0.1, 0.2], [0.3, 0.3]])).tolist() == [1, 0, 0.5]


def test_baselines_by_hand() -> None:
    assert (nearest_hit(CASE), first_hit(CASE)) == (0, 1)
    swapped = replace(CASE, antecedent=CASE.distractor, distractor=CASE.antecedent)
    assert (nearest_hit(swapped), first_hit(swapped)) == (1, 0)
    between = PronounCase("Tom saw Ann", (4, 7), (0, 3), (8, 11))
    assert nearest_hit(between) == 0.5


def test_twins_stay_in_one_half() -> None:
    twin = replace(CASE, antecedent=CASE.distractor, distractor=CASE.antecedent)
    assert twin.pair_name == CASE.pair_name
    assert {half_of(f"pair {i}") for i in range(20)} == {0, 1}
