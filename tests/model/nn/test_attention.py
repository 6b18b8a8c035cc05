"""Attention against torch's own modules, and the invariants that every picture relies on."""

import math

import pytest
import torch
from torch import nn

from model.analysis.metrics.derived_row import derive_row
from model.config import TransformerConfig
from model.nn.attention import AttentionInputs, MultiHeadAttention, attention_weights, softmax_over_keys
from model.nn.hooks import listen, name_hooks
from model.nn.masks import AttentionMask
from model.nn.score_functions import DistanceBias
from tests.model.nn.test_transformer import copy_attention


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def small(d_model: int, num_heads: int) -> TransformerConfig:
    return TransformerConfig(vocab_size=8, d_model=d_model, num_heads=num_heads, attention_dropout=0.0)


def test_a_row_with_nothing_to_attend_is_zero_and_has_finite_gradients() -> None:
    query, key = random(1, 2, 4).requires_grad_(), random(1, 3, 4).requires_grad_()
    mask = torch.tensor([[[True, True, False], [False, False, False]]])
    _, weights = attention_weights(query, key, scale=0.5, mask=mask)
    assert (weights[0, 1] == 0).all()
    (weights**2).sum().backward()
    assert query.grad is not None
    assert query.grad.isfinite().all()
    assert key.grad is not None
    assert key.grad.isfinite().all()
    scores = torch.tensor([[0.5, -torch.inf], [-torch.inf, -torch.inf]], requires_grad=True)
    softmax_over_keys(scores).square().sum().backward()
    assert scores.grad is not None
    assert scores.grad[1].tolist() == [0, 0]


@pytest.mark.parametrize("training", [False, True], ids=["fused", "explicit"])
def test_both_paths_of_the_model_give_zeros_for_a_row_with_nothing_to_attend(training: bool) -> None:
    module = MultiHeadAttention(small(d_model=8, num_heads=2)).train(training)
    nothing = AttentionMask(num_queries=3, num_keys=4, key_padding=torch.tensor([[False] * 4, [True] * 4]))
    with listen(record={"hook_head_output"}) as recorded:
        name_hooks(module)
        module(random(2, 3, 8), random(2, 4, 8), nothing)
    head_output = recorded["hook_head_output"][0]
    assert (head_output[0] == 0).all()
    assert (head_output[1] != 0).any()


@pytest.mark.parametrize("training", [False, True], ids=["fused", "explicit"])
@pytest.mark.parametrize("causal", [False, True])
def test_multi_head_attention_equals_torchs_with_copied_weights(training: bool, causal: bool) -> None:
    torch.manual_seed(0)
    ours, theirs = (
        MultiHeadAttention(small(d_model=24, num_heads=3)).train(training),
        nn.MultiheadAttention(24, 3, batch_first=True),
    )
    with torch.no_grad():
        copy_attention(ours, theirs)
    x = random(2, 6, 24)
    padding = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    mask = AttentionMask(num_queries=6, num_keys=6, key_padding=padding, causal=causal)
    expected, expected_weights = theirs(
        x,
        x,
        x,
        key_padding_mask=~padding,
        attn_mask=~torch.ones(6, 6, dtype=torch.bool).tril() if causal else None,
        average_attn_weights=False,
    )
    name_hooks(ours)
    with listen(record={"hook_weights"}) as recorded:
        explicit = ours(x, x, mask)
    torch.testing.assert_close(explicit, expected)
    torch.testing.assert_close(recorded["hook_weights"][0], expected_weights)
    torch.testing.assert_close(ours(x, x, mask), expected)


def by_hand(
    query: torch.Tensor,
    key: torch.Tensor,
    *,
    scale: float,
    cap: float | None = None,
    bias: torch.Tensor | None = None,
    allowed: torch.Tensor | None = None,
    sink: float | None = None,
) -> torch.Tensor:
    """One head, one number at a time: scores as the papers write them, then exp over their sum."""
    rows = []
    for i in range(len(query)):
        scores = [float(query[i] @ key[j]) * scale for j in range(len(key))]
        if cap is not None:
            scores = [cap * math.tanh(score / cap) for score in scores]
        if bias is not None:
            scores = [score + float(bias[i, j]) for j, score in enumerate(scores)]
        shares = [math.exp(score) if allowed is None or allowed[i, j] else 0.0 for j, score in enumerate(scores)]
        total = sum(shares) + (0.0 if sink is None else math.exp(sink))
        rows.append([share / total for share in shares])
    return torch.tensor(rows)


@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("given_as", ["nothing", "a table", "a whole"])
@pytest.mark.parametrize("sinks", [None, (0.5, -1.0, 2.0, 0.0)])
@pytest.mark.parametrize("cap", [None, 0.7])
def test_soft_cap_bias_window_and_sinks_are_what_the_equations_say(
    cap: float | None, sinks: tuple[float, ...] | None, given_as: str, window: int | None
) -> None:
    torch.manual_seed(3)
    query, key, value = torch.randn(4, 6, 8), torch.randn(2, 6, 8), torch.randn(2, 6, 8)
    table = None if given_as == "nothing" else DistanceBias(torch.randn(4, 11), 6)
    inputs = AttentionInputs(
        query=query,
        key=key,
        value=value,
        mask=AttentionMask(num_queries=6, num_keys=6, causal=True, window=window),
        scale=0.3,
        bias=None if table is None else table.rows(range(4)) if given_as == "a whole" else table,
        softcap=cap,
        sinks=None if sinks is None else torch.tensor(sinks),
    )
    allowed = torch.tensor([[j <= i and (window is None or i - j < window) for j in range(6)] for i in range(6)])
    for head in range(4):
        expected = by_hand(
            query[head],
            key[head // 2],
            scale=0.3,
            cap=cap,
            bias=None if table is None else table.rows([head])[0],
            allowed=allowed,
            sink=None if sinks is None else sinks[head],
        )
        torch.testing.assert_close(inputs.weights([head])[0], expected, atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(inputs.weights([head], [4, 1])[0], expected[[4, 1]], atol=1e-6, rtol=1e-5)
        output = inputs.head_output([head])[0]
        torch.testing.assert_close(output, expected @ value[head // 2], atol=1e-5, rtol=1e-5)
        one_row = derive_row(inputs, head, 3, scaled=True, masked=True)
        torch.testing.assert_close(one_row.weights, expected[3], atol=1e-6, rtol=1e-5)
