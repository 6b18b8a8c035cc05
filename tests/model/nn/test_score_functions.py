"""Masks, biases by distance and score functions: each gives its rows, or the formula's numbers, on demand."""

import pytest
import torch

from model.nn.masks import AttentionMask, key_padding, pad
from model.nn.score_functions import DOT_PRODUCT, Additive, Bilinear, ScoreFunction, distance_bias, read_score_function
from tests.model.nn.test_attention import random

PADDING = torch.tensor([[True, True, True, False], [True, True, True, True]])


def test_key_padding_is_true_at_real_tokens() -> None:
    rows = pad([[5, 6], [], [7]], pad_id=0)
    assert rows.tolist() == [[5, 6], [0, 0], [7, 0]]
    assert key_padding(rows, pad_id=0).tolist() == [[True, True], [False, False], [True, False]]


def test_parts_of_a_mask_are_causality_and_padding_and_make_it_up() -> None:
    mask = AttentionMask(num_queries=4, num_keys=4, key_padding=PADDING, causal=True)
    causal, padding = mask.parts()
    assert causal.rows().tolist() == [[[key <= query for key in range(4)] for query in range(4)]]
    assert padding.rows().tolist() == [[row] * 4 for row in PADDING.tolist()]
    assert torch.equal(causal.rows() & padding.rows(), mask.rows())


@pytest.mark.parametrize("causal", [True, False])
def test_a_window_allows_what_is_nearer_than_it_and_chunks_their_own_keys(causal: bool) -> None:
    window = AttentionMask(num_queries=6, num_keys=6, causal=causal, window=2).rows()[0].tolist()
    chunk = AttentionMask(num_queries=6, num_keys=6, causal=causal, chunk=4).rows()[0].tolist()
    for query in range(6):
        for key in range(6):
            seen = key <= query or not causal
            assert window[query][key] == (seen and abs(query - key) < 2)
            assert chunk[query][key] == (seen and query // 4 == key // 4)


def test_a_mask_is_cut_to_one_sentence_of_its_batch() -> None:
    padding = torch.tensor([[True] * 4, [True, True, False, False], [True, False, False, False]])
    for explicit in (None, torch.ones(3, 5, 4).tril(-1).bool()):
        mask = AttentionMask(num_queries=5, num_keys=4, key_padding=padding, explicit=explicit)
        assert mask.of_sentence(0).key_padding is None
        for index in range(3):
            assert torch.equal(mask.of_sentence(index).rows(), mask.rows()[[index]])
    for_all = AttentionMask(num_queries=5, num_keys=4, explicit=torch.ones(1, 5, 4).tril().bool())
    assert torch.equal(for_all.of_sentence(2).rows(), for_all.rows())


@pytest.mark.parametrize(
    "mask",
    [
        AttentionMask(num_queries=20, num_keys=20),
        AttentionMask(num_queries=20, num_keys=20, causal=True),
        AttentionMask(num_queries=5, num_keys=20, causal=True, first_query=15),
        AttentionMask(num_queries=20, num_keys=20, window=3),
        AttentionMask(num_queries=20, num_keys=20, window=4, causal=True),
        AttentionMask(num_queries=20, num_keys=20, chunk=6),
        AttentionMask(num_queries=20, num_keys=26, chunk=6, causal=True),
        AttentionMask(num_queries=8, num_keys=20, window=4, causal=True, first_query=12),
        AttentionMask(num_queries=8, num_keys=20, chunk=6, first_query=12),
    ],
    ids=repr,
)
def test_no_row_may_attend_beyond_its_reach_and_some_row_to_both_its_ends(mask: AttentionMask) -> None:
    for start in range(0, mask.num_queries, 3):
        rows = slice(start, min(start + 4, mask.num_queries))
        seen, allowed = mask.reach(rows), mask.rows(rows)[0]
        assert not allowed[:, : seen.start].any()
        assert not allowed[:, seen.stop :].any()
        assert allowed[:, seen.start].any()
        assert allowed[:, seen.stop - 1].any()
        torch.testing.assert_close(mask.rows(rows, seen)[0], allowed[:, seen])


def alibi(queries: int, keys: int, heads: int = 3) -> torch.Tensor:
    """slope · (key − query), the queries being the last of the keys."""
    slopes = torch.tensor([2.0**-head for head in range(heads)])
    distance = torch.arange(keys)[None, :] - torch.arange(queries)[:, None] - (keys - queries)
    return slopes[:, None, None] * distance


@pytest.mark.parametrize(("queries", "keys"), [(5, 5), (1, 4), (3, 7), (1, 1), (300, 300)])
def test_rows_of_the_table_are_those_of_the_bias(queries: int, keys: int) -> None:
    bias = alibi(queries, keys)
    found = distance_bias(bias)
    assert found is not None
    assert found.table.numel() == 3 * (queries + keys - 1)
    assert (found.num_queries, found.num_keys) == (queries, keys)
    assert torch.equal(found.rows(range(3)), bias)
    assert torch.equal(found.rows([2, 0], [queries - 1, 0]), bias[[2, 0]][:, [queries - 1, 0]])
    assert torch.equal(found.rows([1], slice(queries // 2, None)), bias[[1], queries // 2 :])


@pytest.mark.parametrize("row", [0, 3, 255, 256, 298])
def test_one_number_that_is_not_of_its_distance_is_noticed(row: int) -> None:
    bias = alibi(300, 300)
    bias[1, row, row] += 1e-3
    assert distance_bias(bias) is None


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
