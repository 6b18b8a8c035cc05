"""A model in words and numbers: what its parameters are counted as is what the modules that hold them are."""

from pathlib import Path
from typing import Any

import pytest
import transformers
from torch import nn

from model.description import describe
from model.opening import open_reader
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
    reader = open_reader(tmp_path, device="cpu")
    told = describe(reader)
    assert sum(told.parts.values()) == count(getattr(reader, "model"))  # noqa: B009
    most = str(dict(told.rows)["Reads at most"])
    assert ("patches and special tokens" in most, " tokens" in most or "RAM" in most) == (name == "vit", True)
