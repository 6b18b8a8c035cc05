"""Gradients: against finite differences, and adding up."""

from dataclasses import replace

import pytest
import torch

from model.analysis.attribution.choice import visible
from model.analysis.attribution.gradients import gradient_times_input, integrated_gradients
from model.analysis.attribution.of_translator import TranslatorRun
from tests.model.analysis.attribution.conftest import STEP


def test_gradient_times_input_is_what_a_little_more_of_a_token_changes(run: TranslatorRun) -> None:
    little = 1e-3
    run.translator.model.double()
    try:
        found = gradient_times_input(run)
        source, prefix = run.embeddings()
        for position in range(len(run.choice.source)):
            more, less = source.clone(), source.clone()
            more[0, position] *= 1 + little
            less[0, position] *= 1 - little
            with torch.no_grad():
                change = run.of_embeddings(more, prefix) - run.of_embeddings(less, prefix)
            # The choice itself is float32.
            assert float(found.source[position]) == pytest.approx(float(change) / (2 * little), abs=2e-3)
    finally:
        run.translator.model.float()


def test_integrated_gradients_add_up_to_what_is_gained(run: TranslatorRun) -> None:
    scores, missing = integrated_gradients(run, steps=400)
    inputs = run.embeddings()
    with torch.no_grad():
        whole = float(run.of_seen(visible(len(run.choice.source), [[]])))
        nothing = float(run.of_embeddings(*map(torch.zeros_like, inputs)))
    assert float(scores.source.sum() + scores.prefix.sum()) == pytest.approx(whole - nothing, abs=0.05)
    assert abs(missing) < 0.05


def test_a_contrast_is_the_difference_of_both_tokens(run: TranslatorRun) -> None:
    one, other = (candidate.token_id for candidate in run.trace.steps[STEP].candidates[:2])
    runs = [
        replace(run, choice=replace(run.choice, token=token, against=against))
        for token, against in ((one, None), (other, None), (one, other))
    ]
    for method in (gradient_times_input, lambda of: integrated_gradients(of)[0]):
        a, b, contrast = map(method, runs)
        torch.testing.assert_close(contrast.source, a.source - b.source, atol=1e-4, rtol=1e-3)
        torch.testing.assert_close(contrast.prefix, a.prefix - b.prefix, atol=1e-4, rtol=1e-3)
