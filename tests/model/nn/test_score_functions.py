"""Score functions: each gives the formula's number for every pair, whatever is computed at once, and comes back."""

import pytest
import torch

from model.nn import score_functions
from model.nn.attention import AttentionInputs, attention_weights
from model.nn.masks import AttentionMask
from model.nn.score_functions import DOT_PRODUCT, Additive, Bilinear, ScoreFunction, joined, read_score_function
from model.trace.row_blocks import log_sum_exp, pooled_weights, weights_tile
from tests.model.nn.test_attention import random

HEADS, D_K = 3, 4
FUNCTIONS: list[ScoreFunction] = [DOT_PRODUCT, Additive(random(HEADS, D_K)), Bilinear(random(HEADS, D_K, D_K))]
by_name = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)


def by_hand(function: ScoreFunction, head: int, query: torch.Tensor, key: torch.Tensor) -> float:
    if isinstance(function, Additive):
        return float(sum(v * torch.tanh(q + k) for v, q, k in zip(function.vector[head], query, key, strict=True)))
    matrix = function.matrix[head] if isinstance(function, Bilinear) else torch.eye(D_K)
    return float(sum(query[i] * matrix[i, j] * key[j] for i in range(D_K) for j in range(D_K)))


@by_name
def test_scores_are_the_formula_and_the_sum_of_their_terms(function: ScoreFunction) -> None:
    query, key = random(HEADS, 2, D_K), random(HEADS, 5, D_K)
    scores = function.scores(query, key)
    for head in range(HEADS):
        for i in range(2):
            for j in range(5):
                expected = by_hand(function, head, query[head, i], key[head, j])
                assert scores[head, i, j].item() == pytest.approx(expected, abs=1e-5)
    torch.testing.assert_close(function.terms(query, key).sum(-1), scores)


@by_name
def test_a_head_alone_has_the_scores_that_it_has_among_others(function: ScoreFunction) -> None:
    query, key = random(HEADS, 2, D_K), random(HEADS, 5, D_K)
    alone = function.of_heads([2]).scores(query[[2]], key[[2]])
    torch.testing.assert_close(alone[0], function.scores(query, key)[2])


@by_name
def test_functions_of_several_sites_are_joined_head_after_head(function: ScoreFunction) -> None:
    query, key = random(2 * HEADS, 2, D_K), random(2 * HEADS, 5, D_K)
    other = function.of_tensors({name: 2 * tensor for name, tensor in function.tensors.items()})
    together = joined([function, other]).scores(query, key)
    torch.testing.assert_close(together[:HEADS], function.scores(query[:HEADS], key[:HEADS]))
    torch.testing.assert_close(together[HEADS:], other.scores(query[HEADS:], key[HEADS:]))


def test_additive_scores_are_the_same_however_many_rows_are_computed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    function, query, key = Additive(random(HEADS, D_K)), random(2, HEADS, 7, D_K), random(2, HEADS, 5, D_K)
    whole = function.scores(query, key)
    monkeypatch.setattr(score_functions, "TERMS_AT_ONCE", 2 * 2 * HEADS * 5 * D_K)
    torch.testing.assert_close(function.scores(query, key), whole)


@by_name
def test_blocks_of_a_long_text_have_the_weights_of_the_whole(function: ScoreFunction) -> None:
    query, key, value = random(HEADS, 6, D_K), random(HEADS, 6, D_K), random(HEADS, 6, D_K) + 1
    mask = AttentionMask(num_queries=6, num_keys=6, causal=True)
    inputs = AttentionInputs(query=query, key=key, value=value, mask=mask, scale=0.5, score=function)
    whole = attention_weights(query, key, scale=0.5, score=function, mask=mask.rows()).weights
    torch.testing.assert_close(inputs.weights([1], slice(2, 5))[0], whole[1, 2:5])
    sums = log_sum_exp(inputs)
    torch.testing.assert_close(weights_tile(inputs, 1, slice(2, 4), slice(0, 3), sums[1]), whole[1, 2:4, :3])
    pooled = pooled_weights(inputs, [0, 3, 6], [0, 6])
    torch.testing.assert_close(pooled.maxima[:, 1, 0], whole[:, 3:].amax((1, 2)))


@by_name
def test_a_function_comes_back_from_its_name_and_tensors(function: ScoreFunction) -> None:
    query, key = random(HEADS, 2, D_K), random(HEADS, 5, D_K)
    again = read_score_function(function.name, function.tensors, HEADS, D_K)
    assert torch.equal(again.scores(query, key), function.scores(query, key))


@pytest.mark.parametrize(
    ("name", "shape"), [("cosine", (HEADS, D_K)), ("additive", (HEADS, D_K + 1)), ("additive", (1, D_K))]
)
def test_a_function_that_does_not_fit_is_refused(name: str, shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"cosine|of the shape"):
        read_score_function(name, {"score_vector": random(*shape)}, HEADS, D_K)
