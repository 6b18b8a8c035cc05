"""Models of shapes, unfilled ones, how matrices lie in memory, and parameters counted by a closed form."""

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

from model.checkpoint import load_checkpoint, save_checkpoint
from model.config import PRESETS, ConvolutionalConfig, ModelConfig, RecurrentConfig, TransformerConfig
from model.decoding.cost import count_parameters
from model.nn.architectures import model_of_shapes, new_model, unfilled_model
from model.nn.transformer import Transformer

SMALL = TransformerConfig(vocab_size=300, d_model=16, num_layers=1, num_heads=2, d_ff=32, max_length=40)
CONFIGS: dict[str, ModelConfig] = {
    "sinusoids": SMALL,
    "learned positions": replace(SMALL, positions="learned"),
    "additive scores": replace(SMALL, score="additive"),
    "GRU": RecurrentConfig(vocab_size=300, d_model=16),
    "convolutions": ConvolutionalConfig(vocab_size=300, d_model=16),
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_a_model_of_shapes_has_every_parameter_and_no_value(config: ModelConfig) -> None:
    shapes = dict(model_of_shapes(config).named_parameters(remove_duplicate=False))
    expected = dict(new_model(config).named_parameters(remove_duplicate=False))
    assert {name: p.shape for name, p in shapes.items()} == {name: p.shape for name, p in expected.items()}
    assert all(parameter.is_meta for parameter in shapes.values())


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_an_unfilled_model_computes_as_the_one_whose_weights_it_is_given(config: ModelConfig) -> None:
    model, copy = new_model(config).eval(), unfilled_model(config).eval()
    copy.load_state_dict(dict(model.named_parameters()), strict=False)
    source, target = torch.tensor([[5, 6, 7, 3]]), torch.tensor([[2, 8, 9]])
    assert torch.equal(model(source, target), copy(source, target))


def test_a_checkpoint_that_is_loaded_and_saved_again_has_the_same_weights(
    tiny_checkpoints: Path, tmp_path: Path
) -> None:
    folder = next(path for path in tiny_checkpoints.iterdir() if path.is_dir())
    loaded = load_checkpoint(folder, torch.device("cpu"))
    assert isinstance(loaded.model, Transformer)
    assert loaded.model.projection.weight.t().is_contiguous(), "it is laid out for decoding on a CPU"
    save_checkpoint(tmp_path / "again", loaded.model, loaded.tokenizer)
    assert (tmp_path / "again/model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()


TINY = TransformerConfig(vocab_size=370, d_model=32, num_layers=2, num_heads=4, d_ff=64)
COUNTED = {
    "tiny, post, shared": TINY,
    "tiny, pre, shared": replace(TINY, norm="pre"),
    "tiny, post, three matrices": replace(TINY, share_embeddings=False),
    "tiny, pre, three matrices": replace(TINY, norm="pre", share_embeddings=False),
    **PRESETS,
}


def part_of(name: str) -> str:
    """The part to which a parameter belongs, by its module's path."""
    if "norm" in name:
        return "norms"
    if "embedding" in name or "projection" in name:
        return "embedding"
    if ".cross_attention." in name:
        return "cross_attention"
    kind = "feed_forward" if ".feed_forward." in name else "self_attention"
    return f"{name.partition('.')[0]}_{kind}"


@pytest.mark.parametrize("config", COUNTED.values(), ids=COUNTED.keys())
def test_every_part_has_as_many_parameters_as_its_modules(config: TransformerConfig) -> None:
    with torch.device("meta"):
        model = Transformer(config)
    real: Counter[str] = Counter()
    for name, parameter in model.named_parameters():
        real[part_of(name)] += parameter.numel()
    counted = count_parameters(config)
    assert asdict(counted) == dict(real)
    assert counted.total == sum(parameter.numel() for parameter in model.parameters())


def test_base_and_big_are_of_the_size_that_the_paper_states() -> None:
    # Table 3: 65 and 213 million, to the vocabulary's rounding.
    assert count_parameters(PRESETS["base"]).total == pytest.approx(65e6, rel=0.05)
    assert count_parameters(PRESETS["big"]).total == pytest.approx(213e6, rel=0.02)
