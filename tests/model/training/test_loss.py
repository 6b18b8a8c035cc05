"""Smoothed cross-entropy is torch's, and tokens may count more than once."""

import pytest
import torch
import torch.nn.functional as F

from model.training.objective import smoothed_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_and_gradient_equal_torchs(smoothing: float) -> None:
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(20, 50, generator=generator).mul_(5).requires_grad_()
    ids = torch.randint(0, 50, (20,), generator=generator)
    ours = smoothed_cross_entropy(logits, ids, smoothing)
    theirs = F.cross_entropy(logits, ids, label_smoothing=smoothing)
    torch.testing.assert_close(ours, theirs)
    for a, b in zip(torch.autograd.grad(2 * ours, logits), torch.autograd.grad(2 * theirs, logits), strict=True):
        torch.testing.assert_close(a, b)


def test_a_token_of_weight_three_counts_as_if_it_stood_there_three_times() -> None:
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(4, 50, generator=generator).requires_grad_()
    ids = torch.tensor([7, 8, 7, 9])
    weighted = smoothed_cross_entropy(logits, ids, 0.1, torch.tensor([3.0, 1.0, 1.0, 1.0])) * 4
    repeated = smoothed_cross_entropy(logits[[0, 0, 0, 1, 2, 3]], ids[[0, 0, 0, 1, 2, 3]], 0.1) * 6
    torch.testing.assert_close(weighted, repeated)
    torch.testing.assert_close(*(torch.autograd.grad(loss, logits) for loss in (weighted, repeated)))
