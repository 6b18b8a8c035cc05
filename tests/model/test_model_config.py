"""Which kind of model a config.json is of, and that nothing of unknown origin takes all memory."""

import json
from typing import Any

import pytest

from model.config import ConvolutionalConfig, ModelConfig, RecurrentConfig, TransformerConfig, changed, read_config
from model.errors import ConfigError


@pytest.mark.parametrize("architecture", ["recurrent", "convolutional"])
def test_what_is_written_is_read_again(architecture: str, earlier_configs: dict[str, ModelConfig]) -> None:
    config = earlier_configs[architecture]
    assert json.loads(config.to_json())["architecture"] == architecture
    assert read_config(config.to_json()) == config


def test_a_transformer_names_no_architecture_and_is_read_as_before(config: TransformerConfig) -> None:
    assert "architecture" not in json.loads(config.to_json())
    assert read_config(config.to_json()) == config


RECURRENT: dict[str, Any] = {"architecture": "recurrent", "vocab_size": 100, "d_model": 8}
HOSTILE: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown kind": (RECURRENT | {"architecture": "lstm"}, "no architecture 'lstm'.*recurrent, convolutional"),
    "a kind that is no text": (RECURRENT | {"architecture": ["recurrent"]}, "no architecture"),
    "a setting of another kind": (RECURRENT | {"kernel_size": 3}, "Unknown settings: kernel_size"),
    "no vocabulary": ({"architecture": "recurrent", "d_model": 8}, "lacks vocab_size"),
    "a giant state": (RECURRENT | {"hidden_size": 10**9}, "hidden_size must be between 1 and 16,384"),
    "a number as text": (RECURRENT | {"hidden_size": "64"}, "hidden_size must be of type int"),
    "true as a number": (RECURRENT | {"alignment_size": True}, "alignment_size must be of type int"),
    "dropout of all": (RECURRENT | {"dropout": 1.0}, "dropout must be in"),
    "an id outside the vocabulary": (RECURRENT | {"eos_id": 100}, "four different ids below 100"),
    "an even kernel": (RECURRENT | {"architecture": "convolutional", "kernel_size": 4}, "must be odd"),
}


@pytest.mark.parametrize(("values", "message"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_wrong_configuration_is_refused_with_a_sentence(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_config(json.dumps(values))


def test_settings_of_another_kind_of_model_cannot_be_changed() -> None:
    config = ConvolutionalConfig(vocab_size=100, d_model=8)
    assert changed(config, {"kernel_size": 5}) == ConvolutionalConfig(vocab_size=100, d_model=8, kernel_size=5)
    with pytest.raises(ConfigError, match="has no num_heads"):
        changed(RecurrentConfig(vocab_size=100, d_model=8), {"num_heads": 2})
