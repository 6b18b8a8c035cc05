"""Value-weighted norms are the lengths of the vectors that a head really adds up."""

import pytest
import torch

from model import Translator
from model.analysis.metrics.measures import transformed_values, value_weighted_norms
from model.nn.attention import AttentionInputs, MultiHeadAttention
from model.nn.encoder_decoder import site_path
from model.nn.masks import AttentionMask
from model.trace.trace import Trace
from tests.conftest import SENTENCES

SITES = ("encoder.self", "decoder.self", "decoder.cross")


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace(SENTENCES[0], SENTENCES[1])


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("site", SITES)
def test_weighted_vectors_of_all_heads_and_the_output_bias_add_up_to_what_the_site_really_put_out(
    translator: Translator, site: str, layer: int
) -> None:
    attention = translator.model.get_submodule(site_path(site, layer))
    assert isinstance(attention, MultiHeadAttention)
    real: list[torch.Tensor] = []
    handle = attention.register_forward_hook(lambda module, inputs, output: real.append(output[0]))
    try:
        trace = translator.trace(SENTENCES[0], SENTENCES[1])
    finally:
        handle.remove()
    vectors = transformed_values(trace.attention(site, layer).values(), translator.output_projection(site, layer))
    summed = torch.einsum("hij,hjd->id", trace.weights(site, layer), vectors) + attention.output.bias.detach()
    torch.testing.assert_close(summed, real[0], atol=1e-5, rtol=1e-4)


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
