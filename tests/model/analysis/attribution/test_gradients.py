"""Gradients: against finite differences, and adding up."""

import pytest
import torch

from model import Trace, Translator
from model.analysis.attribution.choice import choice_at
from model.analysis.attribution.gradients import embeddings, gradient_times_input, integrated_gradients
from tests.model.analysis.attribution.conftest import STEP


def test_gradient_times_input_is_what_a_little_more_of_a_token_changes(either: Translator, trace: Trace) -> None:
    choice, little = choice_at(trace, STEP), 1e-3
    model = either.model.double()
    try:
        found = gradient_times_input(model, choice)
        source, prefix = (own.detach() for own in embeddings(model, choice))
        for position in range(len(choice.source)):
            more, less = source.clone(), source.clone()
            more[0, position] *= 1 + little
            less[0, position] *= 1 - little
            with torch.no_grad():
                change = choice.of_embeddings(model, more, prefix) - choice.of_embeddings(model, less, prefix)
            # The choice itself is float32.
            assert float(found.source[position]) == pytest.approx(float(change) / (2 * little), abs=2e-3)
    finally:
        model.float()


def test_integrated_gradients_add_up_to_what_is_gained(either: Translator, trace: Trace) -> None:
    choice = choice_at(trace, STEP)
    scores, missing = integrated_gradients(either.model, choice, steps=400)
    whole = float(choice.without(either.model).detach())
    zero = [torch.zeros_like(own) for own in embeddings(either.model, choice)]
    nothing = float(choice.of_embeddings(either.model, *zero).detach())
    assert float(scores.source.sum() + scores.prefix.sum()) == pytest.approx(whole - nothing, abs=0.05)
    assert abs(missing) < 0.05


def test_a_contrast_is_the_difference_of_both_tokens(either: Translator, trace: Trace) -> None:
    first, second = (choice_at(trace, STEP).__class__(*_ids(trace), candidate) for candidate in _two(trace))
    both = first.__class__(*_ids(trace), first.token, second.token)
    for method in (gradient_times_input, lambda model, choice: integrated_gradients(model, choice)[0]):
        a, b, contrast = (method(either.model, choice) for choice in (first, second, both))
        torch.testing.assert_close(contrast.source, a.source - b.source, atol=1e-4, rtol=1e-3)
        torch.testing.assert_close(contrast.prefix, a.prefix - b.prefix, atol=1e-4, rtol=1e-3)


def _ids(trace: Trace) -> tuple[tuple[int, ...], tuple[int, ...]]:
    choice = choice_at(trace, STEP)
    return choice.source, choice.prefix


def _two(trace: Trace) -> list[int]:
    return [candidate.token_id for candidate in trace.steps[STEP].candidates[:2]]
