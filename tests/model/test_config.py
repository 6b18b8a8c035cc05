"""Configurations: validated, the same after a trip through JSON, and of the kind of model that they say."""

import json
from pathlib import Path
from typing import Any

import pytest

from model.config import (
    BEYOND_THE_PAPER,
    PRESETS,
    ConvolutionalConfig,
    ModelConfig,
    RecurrentConfig,
    TransformerConfig,
    changed,
    preset,
    read_config,
)
from model.errors import ConfigError


@pytest.mark.parametrize("name", PRESETS)
def test_json_gives_the_same_configuration_back(name: str) -> None:
    assert read_config(PRESETS[name].to_json()) == PRESETS[name]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_heads": 7}, "multiple of num_heads"),
        ({"dropout": 1.0}, r"\[0, 1\)"),
        ({"norm": "none"}, "post, pre"),
        ({"score": "cosine"}, "scaled_dot, dot, additive, general"),
        ({"positions": None}, "of type str"),
        ({"num_layers": 0}, "between 1 and"),
        ({"pad_id": 3}, "four different ids"),
        ({"eos_id": 99_999}, "below 37000"),
    ],
)
def test_settings_out_of_range_are_said(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        preset("base", **changes)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "{}", '{"vocab_size": null}', '{"vocab_size": 1e3}', "[" * 100_000, "9" * 5_000]
)
def test_text_that_is_no_configuration_is_said(text: str) -> None:
    with pytest.raises(ConfigError):
        read_config(text)


def test_a_configuration_of_the_paper_does_not_write_what_differs_from_it() -> None:
    assert not set(BEYOND_THE_PAPER) & json.loads(PRESETS["base"].to_json()).keys()
    text = Path("checkpoints/en-de/config.json").read_text(encoding="utf-8")
    assert read_config(text).to_json() == text


def test_what_differs_from_the_paper_is_kept() -> None:
    config = TransformerConfig(
        vocab_size=20, num_decoder_layers=2, share_embeddings=False, score="additive", positions="learned"
    )
    assert read_config(config.to_json()) == config
    assert (config.layers_of("encoder.self"), config.layers_of("decoder.cross")) == (6, 2)
    assert TransformerConfig(vocab_size=20).decoder_layers == 6


@pytest.mark.parametrize("architecture", ["recurrent", "recurrent-fixed-vector", "convolutional"])
def test_what_is_written_is_read_again(architecture: str, earlier_configs: dict[str, ModelConfig]) -> None:
    config = earlier_configs[architecture]
    assert json.loads(config.to_json())["architecture"] == architecture
    assert read_config(config.to_json()) == config


RECURRENT: dict[str, Any] = {"architecture": "recurrent", "vocab_size": 100, "d_model": 8}
HOSTILE: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown kind": (
        RECURRENT | {"architecture": "lstm"},
        "no architecture 'lstm'.*recurrent, recurrent-fixed-vector, convolutional",
    ),
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
