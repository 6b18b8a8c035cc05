"""The short programs of the lessons: each against the model's own numbers, or torch's."""

import inspect

import pytest
import torch
from torch import Tensor, nn

from model import Trace, Translator
from model.analysis import ten_lines
from model.config import TransformerConfig
from model.decoding.search import beam_search
from model.nn.layers import FeedForward, Residual, sinusoidal_encoding
from model.training.objective import smoothed_cross_entropy

TEXT = "Tom told me."
CROSS, SELF = "decoder.cross", "decoder.self"


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace(TEXT)


@pytest.fixture
def seeded() -> None:
    torch.manual_seed(59)


def randomised(module: nn.Module) -> nn.Module:
    """With random numbers in every parameter, gains and biases among them."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.5)
    return module


def logits_after(translator: Translator, written: list[int]) -> Tensor:
    with torch.inference_mode():
        logits: Tensor = translator.model(torch.tensor([translator.source_ids(TEXT)]), torch.tensor([written]))[0, -1]
    return logits


def test_what_is_written_greedily_is_the_model_s_translation(translator: Translator, trace: Trace) -> None:
    begin, end = translator.config.bos_id, translator.config.eos_id
    written = ten_lines.translate(lambda prefix: logits_after(translator, prefix), begin, end, 60)
    assert written == [*trace.target_ids[1:], trace.predicted_ids[-1]]


def test_a_beam_finds_what_the_model_s_does(translator: Translator) -> None:
    begin, end = translator.config.bos_id, translator.config.eos_id
    found = ten_lines.beam_search(lambda prefix: logits_after(translator, prefix).log_softmax(-1), begin, end, 3, 40)
    best = beam_search(translator.model, torch.tensor([translator.source_ids(TEXT)]), None, beam=3)[0][0]
    assert found == [*best.token_ids, end]


@pytest.mark.parametrize("site", [CROSS, "encoder.self"])
def test_rows_are_those_of_the_trace(trace: Trace, site: str) -> None:
    inputs = trace.attention(site, 1)
    outputs, weights = ten_lines.scaled_dot_product_attention(inputs.query, inputs.key, inputs.value)
    torch.testing.assert_close(weights, trace.weights(site, 1))
    torch.testing.assert_close(outputs, trace.head_output(site, 1))
    for head, row in ((0, 2), (3, 1)):
        output, of_row = ten_lines.look_up(inputs.query[head, row], inputs.key[head], inputs.value[head])
        torch.testing.assert_close(of_row, trace.weights(site, 1)[head, row])
        torch.testing.assert_close(output, trace.head_output(site, 1)[head, row])


def test_masked_rows_are_the_decoder_s(trace: Trace) -> None:
    inputs = trace.attention(SELF, 0)
    for head in range(inputs.num_heads):
        weights = ten_lines.masked_weights(inputs.query[head], inputs.key[head])
        torch.testing.assert_close(weights, trace.weights(SELF, 0)[head])


def test_several_heads_are_torch_s(seeded: None) -> None:
    x, w_q, w_k, w_v, w_o = torch.randn(5, 12), *torch.randn(4, 12, 12)
    module = nn.MultiheadAttention(12, 3, bias=False)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([w_q.T, w_k.T, w_v.T]))
        module.out_proj.weight.copy_(w_o.T)
    expected, _weights = module(x, x, x)
    torch.testing.assert_close(ten_lines.multi_head_attention(x, w_q, w_k, w_v, w_o, heads=3), expected)


def test_a_feed_forward_sub_layer_is_the_model_s(seeded: None) -> None:
    config = TransformerConfig(vocab_size=9, d_model=6, num_heads=2, d_ff=10, norm="pre", dropout=0.0)
    network, residual = randomised(FeedForward(6, 10)), randomised(Residual(config))
    x = torch.randn(1, 4, 6)
    inner, outer, norm = (module.get_submodule(name) for module, name in (
        (network, "inner"), (network, "outer"), (residual, "norm"),
    ))  # fmt: skip
    (w_1, b_1), (w_2, b_2), (gain, bias) = (dict(each.named_parameters()).values() for each in (inner, outer, norm))
    found = ten_lines.feed_forward(x[0], w_1.T, b_1, w_2.T, b_2, gain, bias)
    torch.testing.assert_close(found, residual(x, network)[0])


def test_one_matrix_embeds_and_predicts_as_the_model_does(translator: Translator, trace: Trace) -> None:
    model = translator.model
    matrix, ids = model.projection.weight, torch.tensor(trace.target_ids)
    memory = model.encode(torch.tensor([translator.source_ids(TEXT)]))

    def layers(x: Tensor) -> Tensor:
        torch.testing.assert_close(x, trace.recorded["decoder.embedding.hook_embedding"])
        return model.decode(ids[None], memory)[0]

    with torch.inference_mode():
        logits = ten_lines.embed_and_predict(ids, matrix, layers)
    assert logits.argmax(-1).tolist() == list(trace.predicted_ids)


def test_positions_are_the_model_s() -> None:
    torch.testing.assert_close(ten_lines.positional_encoding(7, 10), sinusoidal_encoding(7, 10))


def test_a_recurrent_layer_is_torch_s(seeded: None) -> None:
    x, layer = torch.randn(6, 3), nn.RNN(3, 5, bias=False)
    w, u = (layer.get_parameter(name).T for name in ("weight_ih_l0", "weight_hh_l0"))
    torch.testing.assert_close(ten_lines.recurrent_layer(x, w, u), layer(x)[0])


def test_a_smoothed_loss_is_that_of_training(seeded: None) -> None:
    logits, token_ids = torch.randn(4, 7), torch.tensor([6, 0, 3, 3])
    for epsilon in (0.0, 0.1):
        found = ten_lines.smoothed_loss(logits, token_ids, epsilon)
        torch.testing.assert_close(found, smoothed_cross_entropy(logits, token_ids, epsilon))


def test_adam_is_torch_s(seeded: None) -> None:
    start, gradients = torch.randn(3), [torch.randn(3) for _ in range(4)]
    weight = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([weight], lr=0.01, betas=(0.9, 0.98), eps=1e-9)
    for gradient in gradients:
        weight.grad = gradient.clone()
        optimizer.step()
    torch.testing.assert_close(ten_lines.adam(start, gradients, 0.01), weight.detach())


def test_a_head_s_part_of_the_sum_is_what_is_missing_without_it(trace: Trace, translator: Translator) -> None:
    outputs = trace.head_output(CROSS, 1)
    w_o = translator.model.get_submodule("decoder.layers.1.cross_attention.output").get_parameter("weight").T.detach()
    whole = outputs.transpose(0, 1).flatten(1) @ w_o
    own = w_o[2 * outputs.size(-1) : 3 * outputs.size(-1)]
    torch.testing.assert_close(whole - ten_lines.without_head(outputs, w_o, 2), outputs[2] @ own)
    # One row, of which each key adds a vector: their norms are those of the products written out.
    weights, values = trace.weights(CROSS, 1)[2], trace.attention(CROSS, 1).value[2]
    vectors = weights[:, :, None] * (values @ own)
    torch.testing.assert_close(ten_lines.added_norms(weights, values, own), vectors.norm(dim=-1))
    torch.testing.assert_close(vectors.sum(1), outputs[2] @ own)


def test_the_change_of_a_score_is_that_of_query_and_key_together(seeded: None) -> None:
    q, k, other_q, other_k = torch.randn(4, 8)
    parts = ten_lines.query_or_keys(q, k, other_q, other_k)
    torch.testing.assert_close(sum(parts), (q @ k - other_q @ other_k) / 8**0.5)
    of_query, of_key = ten_lines.query_or_keys(q, k, other_q, k)
    assert abs(float(of_key)) == 0 < abs(float(of_query))


def test_each_is_about_ten_lines() -> None:
    functions = [each for _name, each in inspect.getmembers(ten_lines, inspect.isfunction)]
    assert {each.__name__: n for each in functions if (n := len(inspect.getsource(each).splitlines())) > 16} == {}
