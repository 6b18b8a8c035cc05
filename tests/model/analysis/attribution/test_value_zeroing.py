"""Value zeroing: against an attention computed by hand, and through the layers."""

import pytest
import torch

from model import Trace, Translator
from model.analysis.attribution.choice import choice_at
from model.analysis.attribution.value_zeroing import distances, value_zeroing
from model.nn.layers import EncoderLayer
from model.nn.masks import AttentionMask
from tests.model.analysis.attribution.conftest import STEP


@torch.inference_mode()
def test_distances_are_those_of_an_attention_without_the_value(either: Translator, trace: Trace) -> None:
    layer, inputs = either.model.encoder.layers[0], trace.attention("encoder.self", 0)
    assert isinstance(layer, EncoderLayer)
    x = either.model.encoder.embedding(torch.tensor([trace.source_ids]))
    length = x.size(1)
    mask = AttentionMask(num_queries=length, num_keys=length)
    found = distances(lambda x: layer(x, mask), x, "encoder.layers.0.self_attention", length)
    for key in range(length):
        values = inputs.values().clone()
        values[:, key] = 0
        joined = (inputs.weights() @ values).transpose(0, 1).flatten(1)[None]
        attended = layer.self_attention_residual(x, lambda _, joined=joined: layer.self_attention.output(joined))
        without = layer.feed_forward_residual(attended, layer.feed_forward)
        expected = 1 - torch.cosine_similarity(layer(x, mask)[0], without[0], dim=-1)
        torch.testing.assert_close(found[:, key], expected.clamp_min(0), atol=1e-5, rtol=1e-3)


def test_many_positions_in_parts_are_as_all_at_once(
    either: Translator, trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = value_zeroing(either.model, choice_at(trace, STEP))
    monkeypatch.setattr("model.analysis.attribution.value_zeroing.ROWS_AT_ONCE", 30)
    for one, other in zip(whole, value_zeroing(either.model, choice_at(trace, STEP)), strict=True):
        torch.testing.assert_close(one, other)


def test_shares_add_up(either: Translator, trace: Trace) -> None:
    scores = value_zeroing(either.model, choice_at(trace, STEP))
    assert float(scores.source.sum() + scores.prefix.sum()) == pytest.approx(1, abs=1e-5)
    assert min(scores.source.min(), scores.prefix.min()) >= 0
