"""Figures of heads, worked out by hand."""

import pytest
import torch

from model.analysis.metrics.head_scores import Head, HeadCounts, score_heads

# [row, head]: head 0 is right on the first half, head 1 on three of four rows, the last is the mean of the heads.
HITS = torch.tensor([[1.0, 0.5, 0.0], [1.0, 0.5, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])[:, None]
COUNTS = HeadCounts(HITS, torch.ones(4), torch.tensor([0, 0, 1, 1]))


def test_a_rate_is_hits_over_totals() -> None:
    scores = score_heads(COUNTS, "accuracy")
    assert scores.heads == ((0.5, 0.75),)
    assert scores.head_averaged == (0.5,)
    assert scores.best_head == Head(0, 1)
    assert scores.best == 0.75


def test_an_error_rate_is_what_the_hits_lack() -> None:
    scores = score_heads(COUNTS, "aer")
    assert scores.heads == ((0.5, 0.25),)
    assert scores.best == 0.25


def test_totals_weigh_the_rows() -> None:
    counts = HeadCounts(HITS, torch.tensor([1.0, 1.0, 3.0, 3.0]), COUNTS.folds)
    assert score_heads(counts, "accuracy").heads == ((0.25, 0.375),)


def test_cross_selection_scores_each_half_with_the_head_chosen_on_the_other() -> None:
    scores = score_heads(COUNTS, "accuracy")
    assert scores.chosen == (Head(0, 0), Head(0, 1))
    assert scores.cross_selected == pytest.approx((0 + 0 + 0.5 + 0.5) / 4)
    assert score_heads(COUNTS, "aer").cross_selected == pytest.approx(0.75)


def test_without_a_second_half_there_is_no_fair_figure() -> None:
    scores = score_heads(HeadCounts(HITS[:1], torch.ones(1), torch.zeros(1, dtype=torch.long)), "accuracy")
    assert scores.cross_selected is None
    assert "cross_selected" not in scores.to_dict()


def test_the_mean_of_the_heads_is_never_the_best_head() -> None:
    hits = torch.tensor([[[0.0, 0.5, 1.0], [0.5, 0.0, 1.0]]])
    assert score_heads(HeadCounts(hits, torch.ones(1), torch.tensor([0])), "accuracy").best_head == Head(0, 1)


def test_plain_data_has_four_digits_and_names_layers_and_heads() -> None:
    thirds = HeadCounts(HITS / 3, torch.ones(4), COUNTS.folds)
    assert score_heads(thirds, "accuracy").to_dict() == {
        "heads": {"0": {"0": 0.1667, "1": 0.25}},
        "best_head": {"layer": 0, "head": 1, "accuracy": 0.25},
        "head_averaged": {"0": 0.1667},
        "cross_selected": {
            "accuracy": 0.0833,
            "chosen_on_first_half": {"layer": 0, "head": 0},
            "chosen_on_second_half": {"layer": 0, "head": 1},
        },
    }
