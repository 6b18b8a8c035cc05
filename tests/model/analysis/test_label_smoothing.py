"""The smoothed target and its loss, against torch's own, and a step's probabilities against the session's."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from model import Translator
from model.analysis.label_smoothing import smoothed_target, step_log_probs, step_loss

TEXT = "The dog sleeps."


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.3])
def test_the_loss_and_its_gradient_are_torch_s(smoothing: float) -> None:
    torch.manual_seed(3)
    logits = torch.randn(1, 50, requires_grad=True)
    expected = cross_entropy(logits, torch.tensor([7]), label_smoothing=smoothing)
    expected.backward()
    found = step_loss(logits.detach()[0].log_softmax(-1), 7, smoothing)
    assert found.smoothed == pytest.approx(expected.item(), abs=1e-5)
    assert logits.grad is not None
    assert found.gradient == pytest.approx(float(logits.grad[0, 7]), abs=1e-6)


def test_no_loss_is_below_the_target_s_entropy_which_a_model_that_says_the_target_reaches() -> None:
    target = smoothed_target(50, 7, 0.1)
    assert float(target.sum()) == pytest.approx(1)
    best = step_loss(target.log(), 7, 0.1)
    assert best.smoothed == pytest.approx(best.least, abs=1e-5)
    assert best.gradient == pytest.approx(0, abs=1e-6)
    surer = torch.full((50,), -20.0)
    surer[7] = 0
    found = step_loss(surer.log_softmax(-1), 7, 0.1)
    assert found.smoothed > best.smoothed
    assert found.gradient > 0
    assert math.exp(best.best_margin) == pytest.approx((0.9 + 0.1 / 50) / (0.1 / 50), rel=1e-5)


def test_a_step_s_probabilities_are_those_of_the_session(translator: Translator) -> None:
    trace = translator.trace(TEXT)
    for step in (0, len(trace.steps) - 1):
        log_probs = step_log_probs(translator, TEXT, trace.target_ids[: step + 1])
        assert float(log_probs.exp().sum()) == pytest.approx(1, abs=1e-5)
        assert float(log_probs[trace.steps[step].token_id]) == pytest.approx(trace.steps[step].log_prob, abs=1e-4)
