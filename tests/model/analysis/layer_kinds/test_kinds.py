"""The layers of Table 1: what they compute, what is counted of them, how far influence comes, and their times."""

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from model.analysis import layer_kinds
from model.analysis.layer_kinds import (
    KINDS,
    LENGTH,
    Kind,
    LayerTime,
    Settings,
    crossing,
    influence,
    layer_times,
    layers_between_ends,
    multiply_adds,
    needed_bytes,
    random_layer,
)
from model.analysis.measured_cost import MeasuredCost
from model.config import TransformerConfig
from model.errors import DataError
from model.nn.attention import MultiHeadAttention
from model.nn.masks import AttentionMask

SETTINGS = Settings(kernel=3, window=5)


def test_restricted_attention_is_attention_under_a_mask_of_its_window() -> None:
    restricted = random_layer("restricted", 128, SETTINGS).inner
    whole = MultiHeadAttention(TransformerConfig(vocab_size=8, d_model=128, num_heads=2)).eval()
    whole.load_state_dict(restricted.state_dict())
    x = torch.randn(2, 9, 128, generator=torch.Generator().manual_seed(1))
    # Five keys: two to each side.
    mask = AttentionMask(num_queries=9, num_keys=9, window=3)
    torch.testing.assert_close(restricted(x, x, mask), whole(x, x, mask), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", ["self-attention", "convolution", "dilated", "restricted"])
def test_multiply_adds_are_what_torch_counts(kind: Kind) -> None:
    layer, x = random_layer(kind, 64, SETTINGS), torch.randn(1, 40, 64)
    # The fused kernel of the CPU is not counted by torch; the explicit one does the same products.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter, torch.inference_mode():
        layer(x)
    assert counter.get_total_flops() == 2 * multiply_adds(kind, 40, 64, SETTINGS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_ends_meet_after_just_as_many_layers_as_are_counted(kind: Kind) -> None:
    settings = Settings(kernel=9, window=17)
    needed = layers_between_ends(kind, LENGTH, settings)
    *before, last = influence(kind, needed, settings)
    assert float(last[-1, 0]) > 0
    assert all(float(found[-1, 0]) == 0 for found in before)


def test_the_chain_rule_gives_the_jacobian_of_the_stack() -> None:
    first, second = (random_layer("self-attention", 8, SETTINGS, depth) for depth in range(2))
    x = torch.randn(LENGTH, 8, generator=torch.Generator().manual_seed(1))
    whole = torch.autograd.functional.jacobian(lambda rows: second(first(rows[None]))[0], x)
    expected = whole.square().sum((1, 3)).sqrt()
    torch.testing.assert_close(influence("self-attention", 2, SETTINGS)[1], expected, rtol=1e-3, atol=1e-6)


CPU = torch.device("cpu")


def curve(*seconds: float) -> list[LayerTime]:
    costs = [MeasuredCost(value, value, 0) for value in seconds]
    return [LayerTime("recurrent", 16 << step, 8, "cpu", cost) for step, cost in enumerate(costs)]


def test_every_kind_is_measured_over_n_and_over_d(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_kinds, "WIDEST", 32)
    told: list[int] = []
    found = layer_times(64, 16, Settings(), [CPU], told.append)
    assert sum(told) == len(KINDS) * (3 + 2)
    for kind in KINDS:
        assert [one.length for one in found.of(kind, "cpu", over_length=True)] == [16, 32, 64]
        assert [one.width for one in found.of(kind, "cpu", over_length=False)] == [16, 32]
        assert found.exponents(kind, "cpu", over_length=True)[0] == pytest.approx(1, abs=0.8)
    for one in (*found.over_length, *found.over_width):
        assert one.measured.num_bytes <= needed_bytes(one.length, one.width, Settings())


def test_curves_cross_between_two_sizes_by_their_logarithms() -> None:
    assert crossing(curve(1.0, 1.0, 4.0), curve(2.0, 2.0, 2.0)) == pytest.approx(32 * 2**0.5)


def test_a_layer_too_large_for_the_memory_is_refused_before_anything_runs() -> None:
    with pytest.raises(DataError, match="10,000,000,000 positions"):
        layer_times(10**10, 64, Settings(), [CPU], lambda done: None)
