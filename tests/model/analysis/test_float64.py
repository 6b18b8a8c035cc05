"""Differences of nearly equal numbers, from float32 inputs, against the same in float64: not all of it is rounding."""

import math

import pytest
import torch
from torch import Tensor

from model.analysis.atlas.head_distance import RatioInterval, divergence_sums
from model.analysis.attribution.choice import AttentionSum
from model.analysis.attribution.methods import contributions, shares, turned
from model.analysis.metrics.head_metrics import AttentionRows, entropy
from model.analysis.scoring import jacobian_norm
from model.analysis.two_models import cross_divergences
from model.tokenizer import Tokenizer
from model.trace.steps import describe_steps

KEYS = 20


def random(*shape: int, scale: float = 1.0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape))) * scale


@pytest.mark.parametrize("turn", [1.0, 1e-2, 1e-4])
def test_an_output_that_hardly_turns_has_the_share_of_its_angle(turn: float) -> None:
    whole, changes = random(1, 7, 64, scale=9.0), random(KEYS, 7, 64, scale=turn)

    found = turned(whole, whole + changes).T
    exact = 1 - torch.cosine_similarity((whole + changes).double(), whole.double(), dim=-1).T
    own = torch.arange(7)
    torch.testing.assert_close(shares(found, own).double(), shares(exact, own), atol=1e-6, rtol=2e-3)


@pytest.mark.parametrize("difference", [1.0, 1e-2, 1e-4])
def test_heads_that_are_alike_are_as_far_apart_as_their_weights_say(difference: float) -> None:
    scores = random(1, KEYS, KEYS, scale=2.0)
    one, other = (scores + difference * random(2, KEYS, KEYS)).softmax(-1)
    middle = (one.double() + other.double()) / 2
    # Kullback & Leibler's form, Σ p log (p / m), as log1p of a difference that is exact.
    kinds = [(weights * torch.log1p((weights - middle) / middle)).sum() for weights in (one.double(), other.double())]
    exact = float(sum(kinds)) / 2 / math.log(2)
    pairs = divergence_sums(torch.stack([one, other]), torch.ones(KEYS, dtype=torch.bool))
    assert float(pairs[0, 1]) == pytest.approx(exact, rel=1e-4)
    assert float(cross_divergences(one[None], other[None])[0, 0]) == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("spread", [1e-1, 1e-4])
def test_the_interval_of_a_mean_from_which_no_sentence_is_far(spread: float) -> None:
    rows = [8 + number % 17 for number in range(100)]
    totals = [(0.999 + random(count, scale=spread)).sum()[None] for count in rows]
    interval = RatioInterval.empty(1)
    for total, count in zip(totals, rows, strict=True):
        interval.add(total, count)
    sums, counts = torch.cat(totals).double(), torch.tensor(rows).double()
    off = sums - sums.sum() / counts.sum() * counts
    error = float((off.square().sum() * 100 / 99).sqrt() / counts.sum())
    low, high = interval.ends()[0].tolist()
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=1e-3)


@pytest.mark.parametrize("scale", [1.0, 1e-2, 30.0])
def test_entropies_saturation_and_contributions_hold_against_float64(scale: float) -> None:
    scores = random(4, 7, KEYS, scale=scale)
    weights, exact = scores.softmax(-1), scores.double().softmax(-1)
    rows = AttentionRows(weights, torch.ones(7, KEYS, dtype=torch.bool), "decoder.cross", ["a"] * KEYS)
    bits = -torch.special.xlogy(exact, exact).sum(-1) / math.log(2)
    torch.testing.assert_close(entropy(rows).values.double(), bits, atol=2e-6, rtol=1e-5)
    identity = torch.eye(KEYS, dtype=torch.float64)
    jacobian = exact[..., None] * (identity - exact[..., None, :])
    torch.testing.assert_close(
        jacobian_norm(weights.double()), torch.linalg.matrix_norm(jacobian), atol=1e-12, rtol=1e-4
    )
    parts = random(7, 7, 64, scale=scale)
    parts[torch.arange(7), torch.arange(7)] += random(7, 64, scale=9.0)
    sums = AttentionSum(False, parts, parts.sum(1) + random(64))
    in_64 = AttentionSum(False, parts.double(), sums.output.double())
    torch.testing.assert_close(contributions(sums).double(), contributions(in_64), atol=1e-5, rtol=0)


def test_a_step_that_is_nearly_certain_has_the_cost_and_entropy_of_float64(tokenizer: Tokenizer) -> None:
    logits = random(3, 40, scale=5.0)
    logits[:, 7] += 30.0
    exact = logits.double().log_softmax(-1)
    for step, row in zip(describe_steps(logits, [7, 8, 9], 0, tokenizer), exact, strict=True):
        assert step.log_prob == pytest.approx(float(row[step.token_id]), abs=1e-6, rel=1e-6)
        assert step.entropy == pytest.approx(float(-(row.exp() * row).sum()), abs=1e-6)
