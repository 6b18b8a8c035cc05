"""Sinusoidal positions as in §3.5."""

import math

import pytest
import torch

from model.positional import sinusoidal_encoding


@pytest.mark.parametrize(("position", "dimension"), [(0, 0), (1, 1), (7, 4), (500, 511), (4095, 2)])
def test_each_entry_follows_the_papers_formula(position: int, dimension: int):
    angle = position / 10_000 ** (2 * (dimension // 2) / 512)
    expected = math.cos(angle) if dimension % 2 else math.sin(angle)
    assert sinusoidal_encoding(4096, 512)[position, dimension].item() == pytest.approx(expected, abs=1e-6)


def test_a_later_start_gives_the_rows_of_the_longer_table():
    assert torch.equal(sinusoidal_encoding(3, 16, first=9), sinusoidal_encoding(12, 16)[9:])


def test_shifted_positions_are_a_rotation_of_the_unshifted_ones():
    table, shift = sinusoidal_encoding(60, 8).double(), 5
    for pair in range(4):
        angle = shift / 10_000 ** (2 * pair / 8)
        rotation = torch.tensor([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
        columns = table[:, 2 * pair : 2 * pair + 2]
        torch.testing.assert_close(columns[shift:], columns[:-shift] @ rotation.double().T, atol=1e-5, rtol=0)
