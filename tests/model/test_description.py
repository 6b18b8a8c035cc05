"""A model in words and numbers: what its parameters are counted as is what the modules that hold them are."""

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import transformers
from torch import nn

from model import Transformer, TransformerConfig, Translator
from model.description import Hyperparameters, describe, follows_paper, hyperparameters
from model.opening import as_writer, open_reader
from model.tokenizer import Tokenizer
from tests.model.adapters import zoo

SHARED: dict[str, Any] = {
    "shared_expert_intermediate_size": 24,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
}


def count(*modules: nn.Module) -> int:
    return sum(weight.numel() for module in modules for weight in module.parameters())


def parts_of(folder: Path) -> dict[str, int]:
    return {str(name): number for name, number in describe(open_reader(folder, device="cpu")).parts.items()}


def test_an_expert_that_is_shared_is_no_embedding(tmp_path: Path) -> None:
    config = transformers.Qwen2MoeConfig(**zoo.CONFIGS["qwen2"], **SHARED, tie_word_embeddings=False)
    model: Any = transformers.Qwen2MoeForCausalLM(config)
    model.save_pretrained(tmp_path)
    zoo.save_tokenizer(tmp_path, "bytes")
    layers = model.model.layers
    norms = [
        model.model.norm,
        *(norm for each in layers for norm in (each.input_layernorm, each.post_attention_layernorm)),
    ]
    assert parts_of(tmp_path) == {
        "Embeddings": count(model.model.embed_tokens, model.lm_head),
        "Norms and scales": count(*norms),
        "Attention": count(*(each.self_attn for each in layers)),
        "Feed-forward and the rest": count(*(each.mlp for each in layers)),
    }


def test_a_bias_of_relative_positions_is_attention_and_a_norm_of_embeddings_a_norm(tmp_path: Path) -> None:
    zoo.save_model(tmp_path / "t5", "t5", "metaspace")
    model: Any = zoo.tiny("t5")
    blocks = [*model.encoder.block, *model.decoder.block]
    subs = [sub for block in blocks for sub in block.layer]
    attentions = [getattr(sub, "SelfAttention", None) or getattr(sub, "EncDecAttention", None) for sub in subs]
    assert parts_of(tmp_path / "t5")["Attention"] == count(*filter(None, attentions))
    zoo.save_model(tmp_path / "bert", "bert")
    embeddings: Any = zoo.tiny("bert").embeddings
    tables = (embeddings.word_embeddings, embeddings.position_embeddings, embeddings.token_type_embeddings)
    assert parts_of(tmp_path / "bert")["Embeddings"] == count(*tables)


@pytest.mark.parametrize("name", ["albert", "bloom", "vit", "marian"])
def test_every_parameter_counts_once(tmp_path: Path, name: str) -> None:
    zoo.save_model(tmp_path, name, "metaspace")
    if name == "vit":
        transformers.ViTImageProcessor(size={"height": 24, "width": 24}).save_pretrained(tmp_path)
    reader: Any = open_reader(tmp_path, device="cpu")
    told = describe(reader)
    # Sinusoids are in no folder: nobody has learned them.
    computed = sum(reader.model.get_parameter(each).numel() for each in reader.abilities.whole.computed)
    assert sum(told.parts.values()) == count(reader.model) - computed
    most = str(dict(told.rows)["Reads at most"])
    assert ("patches and special tokens" in most, " tokens" in most or "RAM" in most) == (name == "vit", True)


def part_of(name: str) -> str:
    """The part of an encoder–decoder of the library to which a parameter belongs, by its path."""
    if "norm" in name:
        return "norms"
    if ".layers." not in name:
        return "embedding"
    if ".encoder_attn." in name:
        return "cross_attention"
    return f"{name.split('.')[1]}_{'self_attention' if '.self_attn.' in name else 'feed_forward'}"


@pytest.mark.parametrize(("kind", "norm"), [("marian", "post"), ("m2m_100", "pre")])
def test_hyperparameters_of_a_translator_are_read_off_its_parts(tmp_path: Path, kind: str, norm: str) -> None:
    zoo.save_model(tmp_path, kind, "metaspace")
    reader: Any = open_reader(tmp_path, device="cpu")
    found, config = hyperparameters(reader), reader.model.config
    assert found.layers == (config.encoder_layers, config.decoder_layers)
    assert found.heads == (config.encoder_attention_heads, config.decoder_attention_heads)
    assert found.d_k == tuple(config.d_model // heads for heads in found.heads)
    assert (found.d_model, found.d_ff) == (config.d_model, (config.encoder_ffn_dim,))
    assert (found.vocabularies, found.matrices, found.norms) == ((config.vocab_size,), 1, (norm,))
    assert (found.activations[0].lower(), found.dropout) == (config.activation_function, config.dropout)
    counted: Counter[str] = Counter()
    for name, weight in reader.model.named_parameters():
        counted[part_of(name)] += weight.numel() * (name not in reader.abilities.whole.computed)
    assert asdict(found.counts) == dict(counted)


@pytest.mark.parametrize("is_shared", [True, False])
def test_hyperparameters_of_ours_are_those_that_it_was_made_by(
    config: TransformerConfig, tokenizer: Tokenizer, is_shared: bool
) -> None:
    own = replace(config, num_layers=3, num_decoder_layers=2, share_embeddings=is_shared)
    found = hyperparameters(Translator(Transformer(own), tokenizer, name="own"))
    assert found == Hyperparameters.of_config(own)


GATED, NARROW = {"feed_forward_proj": "gated-gelu"}, {"d_kv": 4}


@pytest.mark.parametrize(
    ("kind", "changes", "follows"),
    [("marian", {}, True), ("t5", {}, True), ("t5", NARROW, False), ("t5", GATED, False)],
)
def test_the_papers_formulas_hold_where_they_give_the_counted_work(
    tmp_path: Path, kind: str, changes: dict[str, Any], follows: bool
) -> None:
    zoo.tiny(kind, changes=changes).save_pretrained(tmp_path)
    zoo.save_tokenizer(tmp_path, "metaspace")
    writer = as_writer(open_reader(tmp_path, device="cpu"))
    assert follows_paper(writer, writer.trace("The dog.", "Der Hund.")) is follows
