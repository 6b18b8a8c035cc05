"""Trained heads scored with the division by √d_k and without it."""

import pytest
import torch

from model import Translator
from model.analysis.scoring.saturation import head_saturation, with_scale

SITES = ("encoder.self", "decoder.self", "decoder.cross")


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
