"""Saturation of a softmax: the norm of its Jacobian, the spread of scores, and what random vectors have of both."""

import math

import pytest
import torch

from model import Translator
from model.analysis import scoring
from model.analysis.scoring import head_saturation, jacobian_norm, measure_rows, random_saturation, with_scale
from model.nn.attention import ScoresAndWeights
from model.nn.encoder_decoder import SITES
from model.nn.score_functions import TERMS_AT_ONCE


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


def test_masked_keys_do_not_count_in_the_spread() -> None:
    scores = torch.tensor([[1.0, 3.0, -math.inf]])
    assert measure_rows(ScoresAndWeights(scores, scores.softmax(-1))).spread.item() == pytest.approx(1.0)


@pytest.mark.parametrize("name", scoring.NAMES)
@pytest.mark.parametrize("width", [16, 64])
def test_the_measured_variance_is_the_formulas(name: str, width: int) -> None:
    # One random vector makes all additive scores, so their variance is off by its draw.
    found = random_saturation(name, width)
    assert found.variance == pytest.approx(found.expected_variance, rel=0.35 if name == "additive" else 0.1)


def test_only_scaled_and_additive_scores_keep_their_gradient_at_large_widths() -> None:
    gradients = {name: random_saturation(name, 1024).rows.gradient.median().item() for name in scoring.NAMES}
    assert min(gradients["scaled"], gradients["additive"]) > 0.1
    assert max(gradients["dot"], gradients["general"]) < 1e-3


def test_operations_grow_with_the_square_of_n_and_the_additive_ones_twice_as_fast() -> None:
    assert scoring.operations("dot", 20, 3).multiply_adds == 20 * 20 * 3
    assert scoring.operations("general", 20, 3).multiply_adds == 20 * 20 * 3 + 20 * 3 * 3
    assert scoring.operations("additive", 20, 3) == scoring.Operations(2 * 20 * 20 * 3, 20 * 20 * 3)


@pytest.mark.parametrize(
    ("name", "size", "between"),
    [
        ("dot", 8, 8 * 2 + 2 * 2),
        ("additive", 8, 2 * 8 * 8 * 2),
        # Blocks of rows hold no more than so many terms at once.
        ("additive", 1 << 14, 2 * TERMS_AT_ONCE),
    ],
)
def test_the_memory_asked_for_is_that_of_vectors_scores_and_what_lies_between(
    name: str, size: int, between: int
) -> None:
    assert scoring.needed_bytes(name, size, 2) == 4 * (2 * size * 2 + 2 * size * size + between)


@pytest.mark.parametrize("site", SITES)
def test_scores_without_the_division_spread_by_the_root_of_d_k_further(translator: Translator, site: str) -> None:
    trace = translator.trace("The dog sleeps on the mat.")
    found = head_saturation(trace, site, 0)
    ratio = found["dot"].medians.spread / found["scaled"].medians.spread
    torch.testing.assert_close(ratio, torch.full_like(ratio, translator.config.d_k**0.5), rtol=1e-4, atol=0)


def test_scaled_weights_are_those_the_model_used(translator: Translator) -> None:
    trace = translator.trace("The dog sleeps.")
    inputs = trace.attention("decoder.cross", 1)
    torch.testing.assert_close(with_scale(inputs, "scaled").weights(), trace.weights("decoder.cross", 1))


def test_the_decoders_first_row_which_has_no_choice_is_left_out(translator: Translator) -> None:
    trace = translator.trace("The dog sleeps.")
    assert bool((head_saturation(trace, "decoder.self", 0)["scaled"].medians.gradient > 0).all())
