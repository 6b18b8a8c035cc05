"""Models without values have the names and shapes of those with, and take no memory or no time."""

import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch import nn

from model.config import ConvolutionalConfig, ModelConfig, RecurrentConfig, TransformerConfig
from model.nn.architectures import Unfilled, model_of_shapes, new_model, unfilled_model
from tests.paths import ROOT

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


def test_other_tensors_than_parameters_are_filled_as_ever() -> None:
    with Unfilled():
        assert nn.init.constant_(torch.empty(3), 2.0).tolist() == [2.0, 2.0, 2.0]
        assert torch.zeros(2).tolist() == [0.0, 0.0]


def test_a_table_of_positions_is_not_computed_to_know_shapes() -> None:
    longest = replace(SMALL, max_length=32_768)
    assert max(len(buffer) for buffer in model_of_shapes(longest).buffers()) < 100


def test_shapes_are_known_without_torchs_compiler() -> None:
    code = (
        "import sys\nfrom model.config import TransformerConfig\nfrom model.nn.architectures import model_of_shapes\n"
        "model_of_shapes(TransformerConfig(vocab_size=300))\n"
        "print({'sympy', 'torch._dynamo', 'torch._inductor'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, encoding="utf-8", timeout=200
    )
    assert done.stdout.strip() == "set()"
