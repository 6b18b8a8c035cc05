"""Parts of one head's matrix against the whole of it: weights, norms, rollout; tokens, words, special tokens hidden."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F

from model import Translator
from model.analysis.metrics import measures
from model.analysis.metrics.head_metrics import AttentionRows, head_metrics, streamed_head_metrics
from model.analysis.metrics.measures import HeadMatrix, TokenValues, norms_of, values_of, weights_of
from model.trace import axes
from model.trace.row_blocks import log_sum_exp
from model.trace.trace import Trace

TEXT = "Tom told me that he would be late again tomorrow morning, and she gave her sister the book."


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace(TEXT)


def dense_and_lazy(translator: Translator, trace: Trace, site: str, measure: str) -> tuple[torch.Tensor, TokenValues]:
    inputs = trace.attention(site, 1)
    projection = translator.output_projection(site, 1)
    weights = trace.weights(site, 1)
    if measure == "weights":
        return weights[2], weights_of(inputs, 2)
    if measure == "norms":
        return measures.value_weighted_norms(weights, inputs.values(), projection)[2], norms_of(inputs, 2, projection)
    whole = measures.rollout_at(trace, site, 1)
    return whole, values_of(whole)


@pytest.mark.parametrize("site", ["encoder.self", "decoder.self", "decoder.cross"])
@pytest.mark.parametrize("measure", ["weights", "norms", "rollout"])
@pytest.mark.parametrize("kind", ["tokens", "words", "no special tokens"])
def test_parts_and_maxima_of_blocks_are_those_of_the_whole(
    translator: Translator, trace: Trace, site: str, measure: str, kind: str
) -> None:
    queries, keys = map(axes.whole_words if kind == "words" else axes.single_tokens, trace.axis_tokens(site))
    if kind == "no special tokens":
        queries, keys = queries.without_special_tokens(), keys.without_special_tokens()
    dense, values = dense_and_lazy(translator, trace, site, measure)
    whole = axes.between(dense, queries, keys)
    matrix = HeadMatrix(values, queries, keys)
    torch.testing.assert_close(matrix.part(slice(2, 9), slice(1, 6)), whole[2:9, 1:6], atol=1e-6, rtol=1e-5)
    pooled = matrix.pooled(slice(0, None), slice(1, None), (3, 4))
    rest = whole[:, 1:]
    padded = F.pad(rest, (0, -rest.size(1) % 4, 0, -rest.size(0) % 3), value=-1.0)
    expected = padded.unflatten(0, (-1, 3)).unflatten(2, (-1, 4)).amax((1, 3))
    torch.testing.assert_close(pooled, expected, atol=1e-6, rtol=1e-5)


def test_log_sums_are_computed_once_for_a_head(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    from model.analysis.metrics import measures

    calls: list[tuple[object, ...]] = []

    def counted(*given: Any) -> torch.Tensor:
        calls.append(given)
        return log_sum_exp(*given)

    monkeypatch.setattr(measures, "log_sum_exp", counted)
    values = weights_of(trace.attention("encoder.self", 0), 1)
    values.part([0], [1])
    values.part([3], [1])
    assert len(calls) == 1


@pytest.mark.parametrize("site", ["encoder.self", "decoder.self", "decoder.cross"])
def test_figures_from_blocks_of_rows_are_those_of_the_whole_layer(
    trace: Trace, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from model.trace import row_blocks

    monkeypatch.setattr(row_blocks, "VALUES_AT_ONCE", 4 * 3 * len(trace.axis_tokens(site)[1]))
    keys = trace.axis_tokens(site)[1]
    expected = head_metrics(AttentionRows(trace.weights(site, 1), trace.mask(site, 1), site, keys))
    found = streamed_head_metrics(trace.attention(site, 1), keys, site)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        torch.testing.assert_close(found[name], values, equal_nan=True)
