"""A row of attention that may look at nothing: zeros, and finite gradients."""

import pytest
import torch

from model.config import TransformerConfig
from model.nn.attention import MultiHeadAttention, attention_weights, softmax_over_keys
from model.nn.hooks import listen, name_hooks
from model.nn.masks import AttentionMask


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
