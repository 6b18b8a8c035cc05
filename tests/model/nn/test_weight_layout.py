"""How matrices lie in memory changes no result and no file."""

import copy
from pathlib import Path

import torch

from model.checkpoint import load_checkpoint, save_checkpoint
from model.config import TransformerConfig
from model.nn.architectures import lay_out_for_decoding
from model.nn.layers import EncoderLayer
from model.nn.transformer import Transformer


def test_a_model_laid_out_for_decoding_says_the_same(config: TransformerConfig) -> None:
    model = Transformer(config).eval()
    laid_out = copy.deepcopy(model)
    lay_out_for_decoding(laid_out)
    source, target = torch.randint(4, config.vocab_size, (2, 1, 9))
    with torch.inference_mode():
        torch.testing.assert_close(laid_out(source, target), model(source, target))
    layer = laid_out.encoder.layers[0]
    assert isinstance(layer, EncoderLayer)
    inner, outer = layer.feed_forward.inner, layer.feed_forward.outer
    assert inner.weight.t().is_contiguous()
    assert outer.weight.is_contiguous()
    assert laid_out.projection.weight is laid_out.decoder.embedding.tokens.weight


def test_a_checkpoint_that_is_loaded_and_saved_again_has_the_same_weights(
    tiny_checkpoints: Path, tmp_path: Path
) -> None:
    folder = next(path for path in tiny_checkpoints.iterdir() if path.is_dir())
    loaded = load_checkpoint(folder, torch.device("cpu"))
    save_checkpoint(tmp_path / "again", loaded.model, loaded.tokenizer)
    assert (tmp_path / "again/model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
