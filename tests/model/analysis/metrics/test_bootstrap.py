"""Intervals by drawing whole pairs again."""

import torch

from model.analysis.metrics.estimates import bootstrap_mean


def test_intervals_agree_with_drawing_pairs_by_hand() -> None:
    generator = torch.Generator().manual_seed(3)
    values = (torch.rand(60, 2, generator=generator) > 0.4).float()
    groups = [f"{i // 2}" for i in range(60)]
    found = bootstrap_mean(values, groups)
    means = values.view(30, 2, 2).mean(1)
    drawn = torch.stack([means[torch.randint(30, (30,), generator=generator)].mean(0) for _ in range(4_000)])
    torch.testing.assert_close(found.value, values.mean(0))
    torch.testing.assert_close(found.low, drawn.quantile(0.025, dim=0), rtol=0, atol=0.03)
    torch.testing.assert_close(found.high, drawn.quantile(0.975, dim=0), rtol=0, atol=0.03)


def test_twins_with_opposite_answers_leave_no_doubt_about_one_half() -> None:
    values = torch.tensor([0.0, 1.0] * 20)
    assert bootstrap_mean(values, [f"{i // 2}" for i in range(40)]).at() == (0.5, 0.5, 0.5)
    assert bootstrap_mean(values, [f"{i}" for i in range(40)]).at()[1] < 0.45
