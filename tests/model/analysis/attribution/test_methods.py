"""Every method on one choice."""

import pytest
import torch

from model import Trace, Translator
from model.analysis.attribution import methods
from model.analysis.attribution.methods import METHODS, OF_CHOICE, Method, attribute
from model.errors import DataError
from tests.model.analysis.attribution.conftest import STEP


@pytest.mark.parametrize("method", METHODS)
def test_every_token_of_the_source_gets_a_number(either: Translator, trace: Trace, method: Method) -> None:
    found = attribute(either, trace, STEP, method)
    assert found.source.shape == (len(trace.source_ids),)
    assert found.source.isfinite().all()
    if method not in OF_CHOICE:
        whole = found.source.sum() + (0 if found.prefix is None else found.prefix.sum())
        assert float(whole) == pytest.approx(1, abs=1e-4)


def test_cross_attention_is_the_mean_of_all_heads(either: Translator, trace: Trace) -> None:
    weights = torch.stack([trace.weights("decoder.cross", layer)[:, STEP] for layer in range(2)])
    found = attribute(either, trace, STEP, "cross-attention").source
    torch.testing.assert_close(found, weights.flatten(0, 1).mean(0), atol=1e-6, rtol=1e-5)


def test_a_side_that_is_too_long_is_refused(either: Translator, trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "MOST_TOKENS", 3)
    with pytest.raises(DataError, match=r"up to 3 tokens on each side, got \d+; shorten"):
        attribute(either, trace, STEP, "alti")
