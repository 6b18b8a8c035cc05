"""Saturation of a softmax: the norm of its Jacobian, the spread of scores, and what random vectors have of both."""

import pytest
import torch

from model import Translator
from model.analysis import scoring
from model.analysis.scoring import head_saturation, jacobian_norm, random_saturation
from model.nn.encoder_decoder import SITES


@pytest.mark.parametrize("scale", [0.1, 1.0, 8.0])
def test_the_norm_is_that_of_the_jacobian_by_autograd(scale: float) -> None:
    scores = torch.randn(7, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * scale
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
    assert jacobian_norm(scores.softmax(-1)).item() == pytest.approx(jacobian.norm().item(), rel=1e-9)


def test_the_norm_of_a_saturated_row_is_not_lost_in_rounding() -> None:
    # Two keys, 1 − ε and ε: the Jacobian is ε (1 − ε) [[1, −1], [−1, 1]].
    rest = 1e-9
    weights = torch.tensor([1 - rest, rest], dtype=torch.float64)
    assert jacobian_norm(weights).item() == pytest.approx(2 * rest, rel=1e-6)


def test_the_additive_variance_is_that_of_many_draws() -> None:
    generator = torch.Generator().manual_seed(1)
    query, key, weight = (torch.randn(200_000, 3, generator=generator) for _ in range(3))
    # As Glorot and Bengio draw a layer from three numbers to one: uniform up to √(6 / 4).
    weight.uniform_(-(1.5**0.5), 1.5**0.5, generator=generator)
    scores = (weight * (query + key).tanh()).sum(-1)
    assert scoring.expected_variance("additive", 3) == pytest.approx(scores.var().item(), rel=0.02)


@pytest.mark.parametrize("name", scoring.NAMES)
@pytest.mark.parametrize("width", [16, 64])
def test_the_measured_variance_is_the_formulas(name: str, width: int) -> None:
    # One random vector makes all additive scores, one matrix all general ones, so their variance is off by its draw.
    found = random_saturation(name, width)
    assert found.variance == pytest.approx(
        found.expected_variance, rel=0.35 if name in ("additive", "general") else 0.1
    )


def test_only_scaled_and_additive_scores_keep_their_gradient_at_large_widths() -> None:
    gradients = {name: random_saturation(name, 1024).rows.gradient.median().item() for name in scoring.NAMES}
    assert min(gradients["scaled"], gradients["additive"]) > 0.1
    assert max(gradients["dot"], gradients["general"]) < 1e-3


@pytest.mark.parametrize("site", SITES)
def test_scores_without_the_division_spread_by_the_root_of_d_k_further(translator: Translator, site: str) -> None:
    trace = translator.trace("The dog sleeps on the mat.")
    found = head_saturation(trace, site, 0)
    ratio = found["dot"].medians.spread / found["scaled"].medians.spread
    torch.testing.assert_close(ratio, torch.full_like(ratio, translator.config.d_k**0.5), rtol=1e-4, atol=0)
