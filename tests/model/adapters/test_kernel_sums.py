"""What the fused kernel computes for its rows is heard, and what it computes is not changed."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from model.adapters.capture import KernelSums
from model.nn.attention import AttentionInputs
from model.nn.masks import AttentionMask
from model.trace.row_blocks import log_sum_exp, pooled_weights, weights_tile

QUERIES = KEYS = 70


def masked_scores(query: Tensor, key: Tensor, mask: Tensor | None, *, is_causal: bool) -> Tensor:
    scores = query.double() @ key.double().repeat_interleave(query.size(1) // key.size(1), 1).mT / query.size(-1) ** 0.5
    if is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)
    if mask is None:
        return scores
    return scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask


@pytest.mark.parametrize("inference", [True, False])
@pytest.mark.parametrize("case", ["plain", "causal", "padded", "biased", "grouped"])
def test_the_sums_are_those_of_the_masked_scores_and_the_output_is_the_kernels_own(case: str, inference: bool) -> None:
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, 6, QUERIES, 16)
    mask = {"padded": torch.rand(2, 1, QUERIES, KEYS) > 0.4, "biased": torch.randn(1, 6, QUERIES, KEYS)}.get(case)
    is_causal = case in {"causal", "grouped"}
    if case == "grouped":
        key, value = key[:, :2], value[:, :2]
    with torch.inference_mode(inference), torch.no_grad():
        attend = partial(
            F.scaled_dot_product_attention, attn_mask=mask, is_causal=is_causal, enable_gqa=case == "grouped"
        )
        expected = attend(query, key, value)
        with KernelSums() as told:
            output = attend(query, key, value)
    assert torch.equal(output, expected)
    sums = masked_scores(query, key, mask, is_causal=is_causal).logsumexp(-1).float()
    assert told.sums is not None
    torch.testing.assert_close(told.sums, sums, atol=2e-6, rtol=1e-6)


@pytest.mark.parametrize("lowest", [False, torch.finfo(torch.float32).min, -torch.inf])
def test_a_row_that_may_attend_to_nothing_has_weights_of_zero(lowest: bool | float) -> None:
    query, key, value = torch.randn(3, 2, 5, 8)
    mask: Tensor = torch.ones(5, 5).bool() if lowest is False else torch.zeros(5, 5)
    mask[3] = lowest
    with KernelSums() as told:
        F.scaled_dot_product_attention(query[None], key[None], value[None], attn_mask=mask)
    assert told.sums is not None
    allowed = torch.ones(1, 5, 5).bool()
    allowed[:, 3] = False
    inputs = AttentionInputs(
        query=query,
        key=key,
        value=value,
        mask=AttentionMask(num_queries=5, num_keys=5, explicit=allowed),
        scale=8**-0.5,
    )
    known = inputs.with_log_sums(told.sums[0])
    tile = weights_tile(known, 1, slice(None), slice(None), log_sum_exp(known)[1])
    torch.testing.assert_close(tile, inputs.weights()[1])
    assert pooled_weights(known, [3, 4], [0, 5]).maxima.tolist() == [[[0.0]], [[0.0]]]


def test_nothing_is_told_of_scores_in_half_precision() -> None:
    query, key, value = torch.randn(3, 1, 2, 5, 8).bfloat16()
    with KernelSums() as told:
        F.scaled_dot_product_attention(query, key, value)
    assert told.sums is None
