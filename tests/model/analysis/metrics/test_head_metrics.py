"""Metrics of heads: against plain loops, by heads made by hand, and at the edges."""

import math
from collections.abc import Callable

import pytest
import torch

from model.analysis.metrics.head_metrics import AttentionRows, head_metrics, is_punctuation
from model.nn.attention import attention_weights

NAMES = ["entropy", "distance", "previous", "same", "next", "first", "last", "diagonal", "punctuation"]


def causal(n: int) -> torch.Tensor:
    return torch.ones(n, n, dtype=torch.bool).tril()


def full(queries: int, keys: int) -> torch.Tensor:
    return torch.ones(queries, keys, dtype=torch.bool)


def random_weights(heads: int, mask: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(3)
    queries, keys = mask.shape
    return attention_weights(
        torch.randn(heads, queries, 4), torch.randn(heads, keys, 4), scale=1.0, mask=mask.expand(heads, -1, -1)
    ).weights


def slow_metrics(weights: torch.Tensor, mask: torch.Tensor, tokens: list[str], is_self: bool) -> dict[str, float]:
    """The same metrics of one head, number by number, from their definitions in words."""
    queries, keys = mask.shape
    rows = range(queries)

    def allowed(i: int) -> list[int]:
        return [j for j in range(keys) if mask[i, j]]

    def diagonal(i: int) -> float:
        return i * (keys - 1) / (queries - 1) if queries > 1 else 0.0

    def mean(values: list[float]) -> float:
        return sum(values) / len(values) if values else math.nan

    def on(keys_of_row: Callable[[int, int], bool]) -> float:
        shares = []
        for i in rows:
            chosen = [j for j in allowed(i) if keys_of_row(i, j)]
            if 0 < len(chosen) < len(allowed(i)):
                shares.append(sum(float(weights[i, j]) for j in chosen))
        return mean(shares)

    free = [i for i in rows if len(allowed(i)) > 1]
    bits = [-sum(float(a) * math.log2(float(a)) for a in weights[i] if a > 0) for i in free]
    steps = [sum(float(weights[i, j]) * abs(j - diagonal(i)) for j in range(keys)) for i in free]
    return {
        "entropy": mean(bits),
        "distance": mean(steps),
        "previous": on(lambda i, j: is_self and j == i - 1),
        "same": on(lambda i, j: is_self and j == i),
        "next": on(lambda i, j: is_self and j == i + 1),
        "first": on(lambda i, j: j == 0),
        "last": on(lambda i, j: j == keys - 1),
        "diagonal": on(lambda i, j: abs(j - diagonal(i)) <= 1),
        "punctuation": on(lambda i, j: tokens[j] in {"▁,", ".", "..."}),
    }


@pytest.mark.parametrize(
    ("mask", "is_self"),
    [(full(7, 7), True), (causal(7), True), (full(5, 8), False), (full(9, 4), False), (full(1, 6), False)],
)
def test_metrics_are_those_of_plain_loops(mask: torch.Tensor, is_self: bool) -> None:
    tokens = ["▁a", "▁,", "b", ".", "▁c", "...", "d", "</s>"][: mask.size(1)]
    weights = random_weights(3, mask)
    metrics = head_metrics(AttentionRows(weights, mask, "encoder.self" if is_self else "decoder.cross", tokens))
    assert list(metrics) == NAMES
    for head in range(3):
        for name, expected in slow_metrics(weights[head], mask, tokens, is_self).items():
            assert float(metrics[name][head]) == pytest.approx(expected, rel=1e-5, abs=1e-6, nan_ok=True), name


def test_a_sentence_of_one_token_has_no_metrics() -> None:
    metrics = head_metrics(AttentionRows(torch.ones(2, 1, 1), full(1, 1), "encoder.self", ["</s>"]))
    assert all(values.isnan().all() for values in metrics.values())


def test_without_punctuation_there_is_no_metric_of_it() -> None:
    metrics = head_metrics(AttentionRows(random_weights(2, full(3, 3)), full(3, 3), "encoder.self", list("abc")))
    assert metrics["punctuation"].isnan().all()


@pytest.mark.parametrize("token", [".", "▁,", "▁(", "…", "؟", "'", "「", "▁--"])
def test_punctuation(token: str) -> None:
    assert is_punctuation(token)


@pytest.mark.parametrize("token", ["", "▁", "a.", "<s>", "</s>", "$", "7", "😀", "<0x2E>"])
def test_no_punctuation(token: str) -> None:
    assert not is_punctuation(token)
