"""Sinusoidal positions as in §3.5; dropout: the same in the mean, reproducible, gone in evaluation."""

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from model.config import Positions, TransformerConfig
from model.errors import InputTextError
from model.nn.layers import Dropout, Embedding, pair_dimensions, sinusoidal_encoding


def test_a_later_start_gives_the_rows_of_the_longer_table() -> None:
    assert torch.equal(sinusoidal_encoding(3, 16, first=9), sinusoidal_encoding(12, 16)[9:])


@pytest.mark.parametrize(("d_model", "base"), [(6, 2.0), (8, 10_000.0), (64, 317.0)])
def test_every_entry_follows_the_formula_with_any_width_and_base(d_model: int, base: float) -> None:
    table = sinusoidal_encoding(20, d_model, base=base)
    for position in range(20):
        for i in range(d_model // 2):
            angle = position / base ** (2 * i / d_model)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_halves_hold_the_same_numbers_in_other_columns() -> None:
    own, theirs = sinusoidal_encoding(9, 8), sinusoidal_encoding(9, 8, layout="halves")
    assert torch.equal(theirs, torch.cat((own[:, 0::2], own[:, 1::2]), dim=1))
    for i, (sine, cosine) in enumerate(pair_dimensions(8, "halves").tolist()):
        assert (sine, cosine) == (i, i + 4)
        assert torch.equal(theirs[:, [sine, cosine]], own[:, pair_dimensions(8)[i]])


def embedding(config: TransformerConfig) -> Embedding:
    torch.manual_seed(1)
    return Embedding(config, nn.Embedding(config.vocab_size, config.d_model)).eval()


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_what_a_layer_reads_is_the_scaled_token_plus_its_position(
    config: TransformerConfig, positions: Positions
) -> None:
    layer = embedding(replace(config, positions=positions))
    ids = torch.tensor([[5, 9, 5]])
    expected = layer.tokens.weight[ids] * math.sqrt(config.d_model)
    if positions == "sinusoidal":
        expected = expected + sinusoidal_encoding(7, config.d_model)[4:]
    elif positions == "learned":
        expected = expected + layer.learned.weight[4:7] * math.sqrt(config.d_model)
    torch.testing.assert_close(layer(ids, first=4), expected)


def test_learned_positions_reach_to_the_last_and_no_further(config: TransformerConfig) -> None:
    layer = embedding(replace(config, positions="learned"))
    assert layer(torch.full((1, config.num_positions), 5)).shape == (1, config.num_positions, config.d_model)
    with pytest.raises(InputTextError, match=f"learned {config.num_positions} positions, but the text needs"):
        layer(torch.full((1, config.num_positions + 1), 5))


ONES = torch.ones(400, 1003)


@pytest.mark.parametrize("probability", [0.004, 0.1, 0.3, 0.5, 0.9])
def test_it_zeroes_its_share_and_keeps_the_mean(probability: float) -> None:
    torch.manual_seed(1)
    out = Dropout(probability).train()(ONES)
    assert (out == 0).float().mean().item() == pytest.approx(probability, abs=0.003)
    assert out.mean().item() == pytest.approx(1, abs=0.02)
    zero, kept = out.unique().tolist()
    # What is kept is scaled by just its share, the nearest of 256 steps.
    assert (zero, 1 / kept) == (0, pytest.approx(1 - probability, abs=1 / 512))
    assert 256 / kept == pytest.approx(round(256 / kept), abs=1e-3)
    # No position is dropped more often than another: the share of each of the eight bytes of a number is the same.
    assert (out == 0).float().flatten()[:400_000].view(-1, 8).mean(0) == pytest.approx([probability] * 8, abs=0.01)


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
