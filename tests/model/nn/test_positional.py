"""Sinusoidal positions as in §3.5."""

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from model.config import TransformerConfig
from model.errors import InputTextError
from model.nn.layers import Embedding, encode_positions, pair_dimensions, sinusoidal_encoding


@pytest.mark.parametrize(("position", "dimension"), [(0, 0), (1, 1), (7, 4), (500, 511), (4095, 2)])
def test_each_entry_follows_the_papers_formula(position: int, dimension: int) -> None:
    angle = position / 10_000 ** (2 * (dimension // 2) / 512)
    expected = math.cos(angle) if dimension % 2 else math.sin(angle)
    assert sinusoidal_encoding(4096, 512)[position, dimension].item() == pytest.approx(expected, abs=1e-6)


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


def test_between_two_positions_the_formula_goes_on_in_the_number_type_asked_for() -> None:
    half = encode_positions(torch.tensor([0.5], dtype=torch.float64), 4)
    assert half.dtype == torch.float64
    assert half[0].tolist() == pytest.approx(
        [math.sin(0.5), math.cos(0.5), math.sin(0.005), math.cos(0.005)], abs=1e-15
    )


def test_halves_hold_the_same_numbers_in_other_columns() -> None:
    own, theirs = sinusoidal_encoding(9, 8), sinusoidal_encoding(9, 8, layout="halves")
    assert torch.equal(theirs, torch.cat((own[:, 0::2], own[:, 1::2]), dim=1))
    for i, (sine, cosine) in enumerate(pair_dimensions(8, "halves").tolist()):
        assert (sine, cosine) == (i, i + 4)
        assert torch.equal(theirs[:, [sine, cosine]], own[:, pair_dimensions(8)[i]])


def embedding(config: TransformerConfig) -> Embedding:
    torch.manual_seed(1)
    return Embedding(config, nn.Embedding(config.vocab_size, config.d_model)).eval()


def test_a_table_holds_the_longest_target_and_the_formula_goes_on_behind_it(config: TransformerConfig) -> None:
    longest = config.max_length + 50 + 1
    layer = embedding(config)
    assert config.num_positions == len(layer.positions) == longest
    for length in (longest, longest + 1):
        assert torch.equal(layer._positions(0, length), sinusoidal_encoding(length, config.d_model))
    torch.testing.assert_close(
        layer._positions(longest, longest + 2), sinusoidal_encoding(longest + 2, config.d_model)[-2:]
    )


def test_learned_positions_reach_to_the_last_and_no_further(config: TransformerConfig) -> None:
    layer = embedding(replace(config, positions="learned"))
    assert layer(torch.full((1, config.num_positions), 5)).shape == (1, config.num_positions, config.d_model)
    with pytest.raises(InputTextError, match=f"learned {config.num_positions} positions, but the text needs"):
        layer(torch.full((1, config.num_positions + 1), 5))
