"""Configurations: validated, and the same after a trip through JSON."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from model.config import BEYOND_THE_PAPER, PRESETS, TransformerConfig, preset, read_config
from model.errors import ConfigError


@pytest.mark.parametrize("name", PRESETS)
def test_json_gives_the_same_configuration_back(name: str) -> None:
    assert read_config(PRESETS[name].to_json()) == PRESETS[name]


def test_presets_have_the_shapes_of_table_3() -> None:
    base, big = PRESETS["base"], PRESETS["big"]
    assert (base.num_layers, base.d_model, base.d_ff, base.num_heads, base.d_k) == (6, 512, 2048, 8, 64)
    assert (big.num_layers, big.d_model, big.d_ff, big.num_heads, big.d_k, big.dropout) == (6, 1024, 4096, 16, 64, 0.3)
    assert base.norm == big.norm == "post"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_heads": 7}, "multiple of num_heads"),
        ({"d_model": 9, "num_heads": 3}, "even"),
        ({"dropout": 1.0}, r"\[0, 1\)"),
        ({"dropout": float("nan")}, r"\[0, 1\)"),
        ({"norm": "none"}, "post, pre"),
        ({"score": "cosine"}, "scaled_dot, dot, additive, general"),
        ({"positions": None}, "of type str"),
        ({"residual": 1}, "of type bool"),
        ({"num_layers": 0}, "between 1 and"),
        ({"num_layers": True}, "of type int"),
        ({"pad_id": 3}, "four different ids"),
        ({"eos_id": 99_999}, "below 37000"),
        ({"activation": "tanh"}, "one of relu, silu, gelu"),
        ({"position_layout": "learned"}, "one of interleaved, halves"),
        ({"num_decoder_layers": 0}, "between 1 and 128"),
        ({"num_decoder_layers": "2"}, "of type int"),
        ({"output_bias": None}, "of type bool"),
        ({"tie_output": True}, "tied anyway"),
        ({"bos_id": 3}, "only bos may be the same as pad"),
        ({"unk_id": 0}, "four different ids"),
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


def test_an_unknown_preset_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="base, big, en-de"):
        preset("huge")


def test_a_configuration_of_the_paper_does_not_write_what_differs_from_it() -> None:
    assert not set(BEYOND_THE_PAPER) & json.loads(PRESETS["base"].to_json()).keys()
    text = Path("checkpoints/en-de/config.json").read_text(encoding="utf-8")
    assert read_config(text).to_json() == text


def test_what_differs_from_the_paper_is_kept() -> None:
    config = TransformerConfig(
        vocab_size=20, bos_id=0, num_decoder_layers=2, activation="silu", position_layout="halves",
        scale_embedding=False, share_embeddings=False, tie_output=True, output_bias=True,
    )  # fmt: skip
    assert read_config(config.to_json()) == config
    assert (config.layers_of("encoder.self"), config.layers_of("decoder.cross")) == (6, 2)
    assert TransformerConfig(vocab_size=20).decoder_layers == 6


def test_a_table_of_all_three_attentions_needs_stacks_of_the_same_height() -> None:
    assert preset("base").equal_layers == 6
    with pytest.raises(ConfigError, match="6 encoder layers and 2 decoder layers"):
        _ = replace(preset("base"), num_decoder_layers=2).equal_layers
