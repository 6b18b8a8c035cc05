"""Dropout: the same in the mean, reproducible, gone in evaluation."""

import pytest
import torch

from model.nn.layers import Dropout

ONES = torch.ones(400, 1003)


@pytest.mark.parametrize("probability", [0.1, 0.3, 0.5, 0.9])
def test_it_zeroes_its_share_and_keeps_the_mean(probability: float) -> None:
    torch.manual_seed(1)
    out = Dropout(probability).train()(ONES)
    assert (out == 0).float().mean().item() == pytest.approx(probability, abs=0.004)
    assert out.mean().item() == pytest.approx(1, abs=0.02)
    assert len(out.unique()) == 2
    # No position is dropped more often than another: the share of each of the eight bytes of a number is the same.
    assert (out == 0).float().flatten()[:400_000].view(-1, 8).mean(0) == pytest.approx([probability] * 8, abs=0.01)


def test_neighbours_are_dropped_independently() -> None:
    torch.manual_seed(2)
    dropped = (Dropout(0.5).train()(ONES) == 0).float().flatten()
    for distance in (1, 2, 7, 8):
        pairs = torch.stack((dropped[:-distance], dropped[distance:]))
        assert torch.corrcoef(pairs)[0, 1].abs() < 0.01


def test_the_same_seed_drops_the_same_and_another_seed_does_not() -> None:
    drop = Dropout(0.3).train()
    torch.manual_seed(3)
    first = drop(ONES)
    torch.manual_seed(3)
    assert torch.equal(drop(ONES), first)
    assert not torch.equal(drop(ONES), first)


def test_the_gradient_goes_where_the_value_went() -> None:
    x = ONES.clone().requires_grad_()
    out = Dropout(0.25).train()(x)
    out.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, out.detach())


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_nothing_and_everything_can_be_dropped(probability: float) -> None:
    assert torch.equal(Dropout(probability).train()(ONES), ONES * (1 - probability))


def test_in_evaluation_it_does_nothing() -> None:
    assert torch.equal(Dropout(0.5).eval()(ONES), ONES)
