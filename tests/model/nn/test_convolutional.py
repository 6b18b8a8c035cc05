"""The convolutional model against the equations of its paper, spelled out."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.errors import InputTextError
from model.nn.earlier import ConvolutionalDecoderLayer, ConvolutionalEncoderLayer, ConvolutionalTranslator
from model.translator import EarlierTranslator

SOURCE, TARGET = torch.tensor([[5, 6, 7, 8, 3]]), torch.tensor([[2, 30, 31, 32]])
ROOT = 0.5**0.5


@pytest.fixture
def model(earlier_translators: dict[str, EarlierTranslator]) -> ConvolutionalTranslator:
    model = earlier_translators["convolutional"].model
    assert isinstance(model, ConvolutionalTranslator)
    return model


def gated(convolution: nn.Conv1d, rows: Tensor, before: int, after: int) -> Tensor:
    """A gated linear unit over windows of three rows, one matrix product a window."""
    assert convolution.bias is not None
    padded = F.pad(rows, (0, 0, before, after))
    outputs = []
    for start in range(len(rows)):
        window = padded[start : start + 3]
        a, b = torch.chunk(torch.einsum("ock,kc->o", convolution.weight, window) + convolution.bias, 2)
        outputs.append(a * torch.sigmoid(b))
    return torch.stack(outputs)


@torch.no_grad()
def test_logits_are_those_of_the_papers_equations(model: ConvolutionalTranslator) -> None:
    encoder, decoder = model.encoder, model.decoder
    e = encoder.embedding.tokens(SOURCE)[0] + encoder.embedding.embed_positions.weight[:5]
    z = e
    for layer in encoder.layers:
        assert isinstance(layer, ConvolutionalEncoderLayer)
        z = (gated(layer.gated.convolution, z, 1, 1) + z) * ROOT
    g = decoder.embedding.tokens(TARGET)[0] + decoder.embedding.embed_positions.weight[:4]
    h = g
    for layer in decoder.layers:
        assert isinstance(layer, ConvolutionalDecoderLayer)
        v = gated(layer.gated.convolution, h, 2, 0)
        d = (v @ layer.cross_attention.query.weight.T + layer.cross_attention.query.bias + g) * ROOT
        context = (d @ z.T).softmax(-1) @ ((z + e) * ROOT)
        h = ((v + context * 5**0.5) * ROOT + h) * ROOT
    torch.testing.assert_close(model(SOURCE, TARGET)[0], model.projection(h), atol=1e-5, rtol=1e-5)


def test_an_encoder_gets_a_share_of_the_gradients_of_all_attentions(model: ConvolutionalTranslator) -> None:
    first = model.encoder.layers[0]
    assert isinstance(first, ConvolutionalEncoderLayer)
    weight = first.gated.convolution.weight

    def gradient(divisor: int) -> Tensor:
        model.encoder.num_attentions = divisor
        model.zero_grad()
        model(SOURCE, TARGET)[..., 7].sum().backward()
        assert weight.grad is not None
        return weight.grad.clone()

    whole, shared = gradient(1), gradient(model.config.decoder_layers)
    model.zero_grad()
    torch.testing.assert_close(shared, whole / model.config.decoder_layers)


def test_a_text_with_more_tokens_than_positions_is_refused(model: ConvolutionalTranslator) -> None:
    most = model.config.num_positions
    with pytest.raises(InputTextError, match=f"learned {most} positions, but the text needs {most + 1}"):
        model.encode(torch.full((1, most + 1), 5))
