"""A deeper model computes the same as the one that it was made of, and its new layers can learn."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model import Transformer, TransformerConfig, Translator
from model.__main__ import main
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


def test_the_command_writes_a_checkpoint_that_translates_alike(
    tiny_checkpoints: Path, translator: Translator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "deeper"
    asked = ["grow", "--checkpoint", str(tiny_checkpoints / "en-de"), "--layers", "3", "--out", str(out)]
    assert main(asked) == 0
    deeper, shallow = Translator.load(out), Translator.load(tiny_checkpoints / "en-de")
    assert deeper.config.num_layers == 3
    assert deeper.translate("The dog sleeps.") == shallow.translate("The dog sleeps.")
    assert main([*asked[:4], "2", "--out", str(tmp_path / "not deeper")]) == 2
    assert "already has" in capsys.readouterr().err
