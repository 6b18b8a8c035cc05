"""Value zeroing: against an attention computed by hand, and through the layers."""

import pytest
import torch

from model.analysis.attribution.methods import distances, value_zeroing
from model.analysis.attribution.runs import TranslatorRun
from model.nn.layers import EncoderLayer
from model.nn.masks import AttentionMask


@torch.inference_mode()
def test_distances_are_those_of_an_attention_without_the_value(run: TranslatorRun) -> None:
    layer, inputs = run.reader.model.encoder.layers[0], run.trace.attention("encoder.self", 0)
    assert isinstance(layer, EncoderLayer)
    x = run.reader.model.encoder.embedding(torch.tensor([run.choice.source]))
    length = x.size(1)
    mask = AttentionMask(num_queries=length, num_keys=length)
    first = next(run.layers())
    assert first.keys == {"encoder.self": length}
    found = distances(first, "encoder.self")
    for key in range(length):
        values = inputs.values().clone()
        values[:, key] = 0
        joined = (inputs.weights() @ values).transpose(0, 1).flatten(1)[None]
        attended = layer.self_attention_residual(x, lambda _, joined=joined: layer.self_attention.output(joined))
        without = layer.feed_forward_residual(attended, layer.feed_forward)
        expected = 1 - torch.cosine_similarity(layer(x, mask)[0].double(), without[0].double(), dim=-1)
        torch.testing.assert_close(found[:, key].double(), expected, atol=1e-9, rtol=1e-3)


def test_many_positions_in_parts_are_as_all_at_once(run: TranslatorRun, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = value_zeroing(run)
    monkeypatch.setattr("model.analysis.attribution.methods.ROWS_AT_ONCE", 30)
    for one, other in zip(whole, value_zeroing(run), strict=True):
        torch.testing.assert_close(one, other)
