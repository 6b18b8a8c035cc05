"""Both norms against torch's own modules, and whole layers against torch's with copied weights."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from model import Transformer, TransformerConfig, Translator
from model.analysis.residual_stream.capture import CapturedRun, Sublayer, capture
from model.analysis.residual_stream.token_path import batch_norm, follow, layer_norm, normed_batch
from model.config import Norm
from model.tokenizer import Tokenizer
from model.training_record import LANGUAGES
from tests.model.analysis.residual_stream.conftest import TEXT
from tests.model.nn.test_transformer import torchs_own

ROWS = torch.randn(17, 32, generator=torch.Generator().manual_seed(4)) * 3 + 1


def test_layer_norm_is_that_of_torch() -> None:
    norm = nn.LayerNorm(32)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    with torch.inference_mode():
        torch.testing.assert_close(layer_norm(ROWS, norm.weight, norm.bias), norm(ROWS), atol=1e-5, rtol=1e-5)


def test_batch_norm_is_that_of_torch_in_training() -> None:
    with torch.inference_mode():
        torch.testing.assert_close(batch_norm(ROWS), nn.BatchNorm1d(32).train()(ROWS), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["pre-norm", "post-norm"])
def test_both_norms_read_what_the_norm_of_the_model_reads(runs: dict[str, CapturedRun], name: str) -> None:
    sublayer = Sublayer("decoder", 1, "cross")
    batch = normed_batch([runs[name], runs[name]], sublayer, 2)
    length = len(runs[name].trace.target_tokens)
    assert batch.sentences == (0,) * length + (1,) * length
    norm = runs[name].norm_of(sublayer)
    with torch.inference_mode():
        scaled = batch.layer_normed * norm.weight + norm.bias
    torch.testing.assert_close(scaled[:length], runs[name].normed(sublayer), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(batch.batch_normed.mean(0), torch.zeros(32), atol=1e-5, rtol=0)
    torch.testing.assert_close(batch.layer_normed.mean(1), torch.zeros(2 * length), atol=1e-5, rtol=0)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_layer_followed_is_the_layer_of_torch_with_the_same_weights(
    config: TransformerConfig, tokenizer: Tokenizer, norm: Norm
) -> None:
    torch.manual_seed(6)
    model = Transformer(replace(config, norm=norm))
    layers = torchs_own(model).encoder.layers
    translator = Translator(model, tokenizer, name=norm, digest=norm, languages=LANGUAGES)
    run = capture(translator, translator.trace(TEXT, "Das Tier"))
    state = run.begin("encoder")[None]
    for number, layer in enumerate(layers):
        with torch.inference_mode():
            state = layer(state)
        for position, expected in enumerate(state[0]):
            after = follow(run, "encoder", position).layers[number][-1].after
            torch.testing.assert_close(after, expected, atol=1e-5, rtol=1e-5)
