"""Sinusoidal positions as in §3.5, and what a layer reads."""

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from model.config import Positions, TransformerConfig
from model.errors import InputTextError
from model.nn.layers import Embedding, pair_dimensions, sinusoidal_encoding


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
