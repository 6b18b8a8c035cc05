"""Error rates of heads, worked out by hand."""

import pytest
import torch

from model.analysis.metrics.estimates import HeadCounts, score_heads
from model.analysis.metrics.head_names import LayerHead

# [row, head]: head 0 is right on the first half, head 1 on three of four rows, the last is the mean of the heads.
HITS = torch.tensor([[1.0, 0.5, 0.0], [1.0, 0.5, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])[:, None]
COUNTS = HeadCounts(HITS, torch.ones(4), torch.tensor([0, 0, 1, 1]))


def test_an_error_rate_is_what_hits_lack_of_totals() -> None:
    scores = score_heads(COUNTS)
    assert scores.heads == ((0.5, 0.25),)
    assert scores.head_averaged == (0.5,)
    assert scores.best_head == LayerHead(0, 1)
    assert scores.best == 0.25


def test_totals_weigh_the_rows() -> None:
    counts = HeadCounts(HITS, torch.tensor([1.0, 1.0, 3.0, 3.0]), COUNTS.folds)
    assert score_heads(counts).heads == ((0.75, 0.625),)


def test_cross_selection_scores_each_half_with_the_head_chosen_on_the_other() -> None:
    scores = score_heads(COUNTS)
    assert scores.chosen == (LayerHead(0, 0), LayerHead(0, 1))
    assert scores.cross_selected == pytest.approx(1 - (0 + 0 + 0.5 + 0.5) / 4)


def test_without_a_second_half_there_is_no_fair_error_rate() -> None:
    scores = score_heads(HeadCounts(HITS[:1], torch.ones(1), torch.zeros(1, dtype=torch.long)))
    assert scores.cross_selected is None


def test_the_mean_of_the_heads_is_never_the_best_head() -> None:
    hits = torch.tensor([[[0.0, 0.5, 1.0], [0.5, 0.0, 1.0]]])
    assert score_heads(HeadCounts(hits, torch.ones(1), torch.tensor([0]))).best_head == LayerHead(0, 1)
