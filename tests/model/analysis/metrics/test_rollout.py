"""Rollout against plain loops, by hand, and what must hold of it."""

import numpy as np
import pytest
import torch

from model import Translator
from model.analysis.metrics.measures import rollout_at, with_residual
from model.errors import TraceError
from model.trace.trace import Trace
from tests.conftest import SENTENCES


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace(SENTENCES[0], SENTENCES[1])


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


@pytest.mark.parametrize("layer", [0, 1])
def test_rollout_of_cross_attention_reads_through_the_whole_encoder(trace: Trace, layer: int) -> None:
    encoder = looped([trace.weights("encoder.self", below).double().numpy() for below in (0, 1)])
    cross = trace.weights("decoder.cross", layer).double().numpy()
    expected = np.zeros(cross.shape[1:])
    for i, j in np.ndindex(expected.shape):
        expected[i, j] = sum(cross[:, i, k].mean() * encoder[k, j] for k in range(len(encoder)))
    np.testing.assert_allclose(rollout_at(trace, "decoder.cross", layer), expected, atol=1e-6)


def test_a_row_that_attends_to_nothing_keeps_only_itself() -> None:
    assert torch.equal(with_residual(torch.zeros(2, 2)), torch.eye(2))


def test_a_layer_or_site_that_does_not_exist_is_named(trace: Trace) -> None:
    with pytest.raises(TraceError, match="Layers of"):
        rollout_at(trace, "encoder.self", 2)
    with pytest.raises(TraceError, match="no site"):
        rollout_at(trace, "encoder.cross", 0)
