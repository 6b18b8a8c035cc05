"""Weights, value-weighted norms and rollout: against plain loops, and parts of a matrix against the whole of it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from model import Translator
from model.analysis.corpus import SiteRun
from model.analysis.metrics.head_metrics import AttentionRows, head_metrics, streamed_head_metrics
from model.analysis.metrics.measures import (
    HeadMatrix,
    TokenValues,
    norms_of,
    rollout_at,
    value_weighted_norms,
    values_of,
    weights_of,
)
from model.errors import TraceError
from model.nn.attention import AttentionInputs, MultiHeadAttention
from model.nn.encoder_decoder import site_path
from model.nn.masks import AttentionMask
from model.trace import row_blocks
from model.trace.axes import Axis, single_tokens, whole_words
from model.trace.trace import Trace
from tests.conftest import SENTENCES

SITES = ("encoder.self", "decoder.self", "decoder.cross")


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace(SENTENCES[0], SENTENCES[1])


@pytest.mark.parametrize("site", SITES)
def test_norms_are_the_lengths_of_vectors_formed_one_by_one(translator: Translator, trace: Trace, site: str) -> None:
    """x_j, W_V, b_V and W_O taken from the model itself, one head, query and key at a time."""
    attention = translator.model.get_submodule(site_path(site, 1))
    assert isinstance(attention, MultiHeadAttention)
    value, output = attention.value, attention.output
    inputs, weights, d_k = trace.attention(site, 1), trace.weights(site, 1), attention.d_k
    norms = value_weighted_norms(weights, inputs.values(), translator.output_projection(site, 1))
    # What went into W_V: solved for from all heads' values, since W_V is square and invertible.
    joined = inputs.value.transpose(0, 1).flatten(1)
    x = torch.linalg.solve(value.weight.detach().double(), (joined - value.bias.detach()).double().T).T
    for head in range(inputs.num_heads):
        rows = slice(head * d_k, (head + 1) * d_k)
        for query, key in ((0, 0), (5, 3), (7, 7)):
            carried = value.weight[rows].detach().double() @ x[key] + value.bias[rows].detach().double()
            vector = weights[head, query, key].double() * (output.weight[:, rows].detach().double() @ carried)
            assert norms[head, query, key].item() == pytest.approx(vector.norm().item(), abs=1e-5)


def test_heads_that_share_their_values_each_use_them() -> None:
    value = torch.randn(2, 3, 4)
    mask = AttentionMask(num_queries=3, num_keys=3)
    inputs = AttentionInputs(query=torch.randn(4, 3, 4), key=torch.randn(2, 3, 4), value=value, mask=mask, scale=0.5)
    assert torch.equal(inputs.values(), value[[0, 0, 1, 1]])
    assert torch.equal(inputs.values([3]), value[[1]])


def looped(layers: list[np.ndarray]) -> np.ndarray:
    """Rollout with one sum at a time, heads [head, query, key] averaged first."""
    n = layers[0].shape[1]
    result = np.eye(n)
    for heads in layers:
        following = np.zeros((n, n))
        for i in range(n):
            row = [0.5 * sum(head[i, j] for head in heads) / len(heads) + 0.5 * (i == j) for j in range(n)]
            for j in range(n):
                following[i, j] = sum(row[k] / sum(row) * result[k, j] for k in range(n))
        result = following
    return result


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("site", ["encoder.self", "decoder.self"])
def test_rollout_of_a_stack_equals_plain_loops(trace: Trace, site: str, layer: int) -> None:
    weights = [trace.weights(site, below).double().numpy() for below in range(layer + 1)]
    np.testing.assert_allclose(rollout_at(trace, site, layer), looped(weights), atol=1e-6)


def test_rollout_of_cross_attention_reads_through_the_whole_encoder(trace: Trace) -> None:
    encoder = looped([trace.weights("encoder.self", below).double().numpy() for below in (0, 1)])
    for layer in (0, 1):
        cross = trace.weights("decoder.cross", layer).double().numpy()
        expected = np.zeros(cross.shape[1:])
        for i, j in np.ndindex(expected.shape):
            expected[i, j] = sum(cross[:, i, k].mean() * encoder[k, j] for k in range(len(encoder)))
        np.testing.assert_allclose(rollout_at(trace, "decoder.cross", layer), expected, atol=1e-6)


def test_a_layer_or_site_that_does_not_exist_is_named(trace: Trace) -> None:
    with pytest.raises(TraceError, match="Layers of"):
        rollout_at(trace, "encoder.self", 2)
    with pytest.raises(TraceError, match="no attention"):
        rollout_at(trace, "encoder.cross", 0)


LONG = "Tom told me that he would be late again tomorrow morning, and she gave her sister the book."


@pytest.fixture(scope="module")
def long_trace(translator: Translator) -> Trace:
    return translator.trace(LONG)


def layers_of(*layers: tuple[int, AttentionMask], **changes: Any) -> tuple[AttentionInputs, ...]:
    """So many heads each, over five tokens."""
    drawn = (torch.randn(3, heads, 5, 6) for heads, _ in layers)
    return tuple(
        replace(AttentionInputs(query=query, key=key, value=value, mask=mask, scale=0.4), **changes)
        for (query, key, value), (_, mask) in zip(drawn, layers, strict=True)
    )


FULL, WINDOW = (AttentionMask(num_queries=5, num_keys=5, window=window) for window in (None, 2))
CAUSAL, ALSO_CAUSAL = (AttentionMask(num_queries=5, num_keys=5, causal=True) for _ in range(2))


@pytest.mark.parametrize(
    ("layers", "masks"),
    [
        (layers_of((3, CAUSAL)), [(0, 3)]),
        (layers_of((3, CAUSAL), (2, CAUSAL), (1, ALSO_CAUSAL)), [(0, 6)]),
        (layers_of((2, FULL), (1, WINDOW), (3, CAUSAL), (1, CAUSAL), (2, ALSO_CAUSAL)), [(0, 2), (2, 3), (3, 9)]),
        (layers_of((2, FULL), (1, WINDOW)), [(0, 2), (2, 3)]),
        ((*layers_of((2, FULL)), *layers_of((2, FULL), scale=0.1)), [(0, 4)]),
        ((*layers_of((2, FULL)), *layers_of((2, FULL), softcap=0.3)), [(0, 4)]),
        (
            (*layers_of((2, FULL)), *layers_of((2, FULL), key=torch.randn(1, 5, 6), value=torch.randn(1, 5, 6))),
            [(0, 4)],
        ),
    ],
)
def test_layers_side_by_side_have_each_layer_s_weights_values_and_mask(
    long_trace: Trace, layers: tuple[AttentionInputs, ...], masks: list[tuple[int, int]]
) -> None:
    run = SiteRun.of(replace(long_trace, inputs={"encoder.self": layers}), "encoder.self", with_values=True)
    torch.testing.assert_close(run.weights, torch.cat([layer.weights() for layer in layers]))
    assert run.value is not None
    assert torch.equal(run.value, torch.cat([layer.values() for layer in layers]))
    assert [(heads.start, heads.stop) for heads, _ in run.masks] == masks
    of_heads = [layer.mask.rows()[0] for layer in layers for _ in range(layer.num_heads)]
    for heads, mask in run.masks:
        assert all(torch.equal(mask, own) for own in of_heads[heads])


@pytest.mark.parametrize("site", ["encoder.self", "decoder.self", "decoder.cross"])
def test_figures_from_blocks_of_rows_are_those_of_the_whole_layer(
    long_trace: Trace, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_blocks, "VALUES_AT_ONCE", 4 * 3 * len(long_trace.axis_tokens(site)[1]))
    keys = long_trace.axis_tokens(site)[1]
    expected = head_metrics(AttentionRows(long_trace.weights(site, 1), long_trace.mask(site, 1), site, keys))
    found = streamed_head_metrics(long_trace.attention(site, 1), keys, site)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        torch.testing.assert_close(found[name], values, equal_nan=True)


def numbers_of(translator: Translator, trace: Trace, what: str) -> tuple[TokenValues, np.ndarray]:
    """Numbers of the decoder's second cross-attention as a page asks for them, and the whole matrix."""
    site, inputs, weights = "decoder.cross", trace.attention("decoder.cross", 1), trace.weights("decoder.cross", 1)
    projection = translator.output_projection(site, 1)
    if what == "weights":
        return weights_of(inputs, 2), weights[2].numpy()
    if what == "norms":
        return norms_of(inputs, 2, projection), value_weighted_norms(weights, inputs.values(), projection)[2].numpy()
    matrix = torch.from_numpy(np.asarray(rollout_at(trace, site, 1)))
    return values_of(matrix), matrix.numpy()


def axes_of(trace: Trace, between: str) -> tuple[Axis, Axis]:
    """Rows and columns: all tokens, all words, or neither the first token nor one within the text."""
    rows, columns = trace.axis_tokens("decoder.cross")
    if between == "words":
        return whole_words(rows), whole_words(columns)
    axes = single_tokens(rows), single_tokens(columns)
    if between == "some tokens":
        return axes[0].without({0}, rows), axes[1].without({0, 5}, columns)
    return axes


@pytest.mark.parametrize("between", ["tokens", "words", "some tokens"])
@pytest.mark.parametrize("what", ["weights", "norms", "rollout"])
def test_any_part_of_a_matrix_and_its_largest_numbers_are_those_of_the_whole(
    translator: Translator, what: str, between: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = translator.trace(LONG, LONG[:60])
    rows, columns = axes_of(trace, between)
    _, values = numbers_of(translator, trace, what)
    whole = np.array([[values[np.ix_(row, column)].sum(1).mean() for column in columns.groups] for row in rows.groups])
    height, width = whole.shape
    # Few numbers at a time, so that rows come in several passes; and all at once.
    for at_once in (3 * width, 10**6):
        monkeypatch.setattr(row_blocks, "VALUES_AT_ONCE", at_once)
        matrix = HeadMatrix(numbers_of(translator, trace, what)[0], rows, columns)
        for top, bottom, left, right in ((0, height, 0, width), (1, 6, 2, 3), (2, 3, 0, width), (3, height, 1, width)):
            part = whole[top:bottom, left:right]
            found = matrix.part(slice(top, bottom), slice(left, right))
            np.testing.assert_allclose(found, part, atol=1e-6)
            for tall, wide in ((1, 1), (2, 3), (3, 1), (height, width)):
                blocks = [
                    [part[i : i + tall, j : j + wide].max() for j in range(0, right - left, wide)]
                    for i in range(0, bottom - top, tall)
                ]
                pooled = matrix.pooled(slice(top, bottom), slice(left, right), (tall, wide))
                np.testing.assert_allclose(pooled, blocks, atol=1e-6)
