"""A deeper model computes the same as the one that it was made of, and its new layers can learn."""

from dataclasses import replace

import pytest
import torch

from model import Transformer, TransformerConfig
from model.errors import ConfigError
from model.nn.architectures import grown

SOURCE = torch.tensor([[5, 9, 40, 3, 0, 0], [8, 8, 31, 17, 22, 3]])
TARGET = torch.tensor([[2, 12, 7, 9], [2, 44, 10, 0]])


@pytest.fixture
def model(config: TransformerConfig) -> Transformer:
    torch.manual_seed(4)
    return Transformer(config).eval()


@pytest.mark.parametrize("num_layers", [3, 5])
def test_a_deeper_model_computes_the_same(model: Transformer, num_layers: int) -> None:
    deeper = grown(model, num_layers)
    assert (len(deeper.encoder.layers), len(deeper.decoder.layers)) == (num_layers, num_layers)
    with torch.inference_mode():
        padding = SOURCE != 0
        memory, expected = deeper.encode(SOURCE, padding), model.encode(SOURCE, padding)
        torch.testing.assert_close(memory, expected, atol=1e-6, rtol=0)
        torch.testing.assert_close(
            deeper.projection(deeper.decode(TARGET, memory, padding)),
            model.projection(model.decode(TARGET, expected, padding)),
            atol=1e-6,
            rtol=0,
        )


@pytest.mark.parametrize(
    ("changes", "num_layers", "said"),
    [({"norm": "post"}, 4, "pre-norm"), ({"residual": False}, 4, "residual"), ({}, 2, "already has 2 \\+ 2 layers")],
)
def test_what_would_change_or_not_grow_is_refused(
    config: TransformerConfig, changes: dict[str, object], num_layers: int, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        grown(Transformer(replace(config, **changes)), num_layers)  # type: ignore[arg-type]
