"""Every method on one choice."""

import pytest
import torch

from model import Translator
from model.analysis.attribution import methods
from model.analysis.attribution.methods import METHODS, OF_CHOICE, Method, attribute, choice_run
from model.analysis.attribution.runs import TranslatorRun
from model.errors import DataError
from tests.model.analysis.attribution.conftest import STEP, TEXT


@pytest.mark.parametrize("method", METHODS)
def test_every_token_of_the_source_gets_a_number(run: TranslatorRun, method: Method) -> None:
    found = attribute(run, method)
    assert found.read.shape == (len(run.choice.source),)
    assert found.read.isfinite().all()
    if method not in OF_CHOICE:
        whole = found.read.sum() + (0 if found.prefix is None else found.prefix.sum())
        assert float(whole) == pytest.approx(1, abs=1e-4)
        assert min(float(part.min()) for part in (found.read, found.prefix) if part is not None) >= 0
        assert found.prefix is None or len(found.prefix) == STEP + 1


def test_weights_are_the_mean_of_all_heads_of_cross_attention(run: TranslatorRun) -> None:
    weights = torch.stack([run.trace.weights("decoder.cross", layer)[:, STEP] for layer in range(2)])
    found = attribute(run, "weights").read
    torch.testing.assert_close(found, weights.flatten(0, 1).mean(0), atol=1e-6, rtol=1e-5)


def test_a_run_is_made_anew_from_the_text_and_the_choice(either: Translator, run: TranslatorRun) -> None:
    again = choice_run(either, run.choice, TEXT)
    for method in METHODS:
        torch.testing.assert_close(attribute(again, method).read, attribute(run, method).read, atol=1e-5, rtol=1e-4)


def test_a_side_that_is_too_long_is_refused(
    either: Translator, run: TranslatorRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(methods, "MOST_TOKENS", 3)
    with pytest.raises(DataError, match=r"up to 3 tokens on each side, got \d+; shorten"):
        choice_run(either, run.choice, TEXT)
