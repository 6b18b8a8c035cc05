"""A model in words and numbers: what its parameters are counted as is what the modules that hold them are."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import transformers
from torch import nn

from model import Translator
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


def told_of(
    translator: Translator,
    *,
    read: float = 1.0,
    heads: tuple[int, ...] = (2, 2),
    labels: dict[int, str] | None = None,
    settings: dict[str, object] | None = None,
) -> dict[str, str]:
    """What is said of a model of one matrix, of which this share lies in the device's memory."""
    model: Any = nn.Linear(5, 4, bias=False)
    model.config = SimpleNamespace(id2label=labels, to_diff_dict=lambda: settings or {})
    abilities = replace(translator.abilities, heads={"decoder.self": heads})
    reader: Any = SimpleNamespace(model=model, abilities=abilities, device="cuda:0", num_bytes=int(5 * 4 * 4 * read))
    told = describe(reader)
    return {str(name): str(value) for name, value in (*told.rows, *told.settings)}


@pytest.mark.parametrize("name", ["attention", "mixer"])
def test_of_a_hybrid_it_is_told_which_layers_attend_and_what_the_others_are_made_of(
    translator: Translator, name: str
) -> None:
    """What stands in place of the attention has a name of its own, or the same and is of another class."""
    model: Any = nn.Module()
    model.towers = nn.ModuleList([nn.ModuleDict({"mlp": nn.Linear(2, 2)})])
    model.layers = nn.ModuleList(nn.ModuleDict({"mlp": nn.Linear(2, 2)}) for _ in range(3))
    for layer, is_attention in zip(model.layers, (False, True, False), strict=True):
        layer.add_module(*((name, nn.Bilinear(2, 2, 2)) if is_attention else ("mixer", nn.GRU(2, 2))))
    abilities = replace(translator.abilities, kind="decoder")
    sites = [model.layers[1].get_submodule(name)]
    reader: Any = SimpleNamespace(
        model=model, abilities=abilities, device="cpu", num_bytes=10**6, layout=SimpleNamespace(sites=sites)
    )
    rows = {str(row): str(value) for row, value in describe(reader).rows}
    assert rows["Layers that attend"].startswith("2 of 3; the others (GRU) have no attention")


def test_layers_of_different_heads_are_told_from_the_fewest_to_the_most(translator: Translator) -> None:
    for heads, expected in (((2, 4, 3), "3 layers of 2 to 4 heads"), ((3, 3), "2 layers of 3 heads")):
        assert told_of(translator, heads=heads)["Decoder self-attention"] == expected


def test_of_a_model_larger_than_its_memory_it_is_said_how_much_is_read_again(translator: Translator) -> None:
    assert told_of(translator)["Runs on"] == "cuda:0"
    assert (
        told_of(translator, read=0.75)["Runs on"] == "cuda:0; for lack of memory, 25% of it is read again in every pass"
    )


def test_labels_with_names_of_their_own_are_told_as_far_as_a_line_reaches(translator: Translator) -> None:
    assert "Labels" not in told_of(translator, labels={0: "LABEL_0", 1: "LABEL_1"})
    assert told_of(translator, labels={0: "LABEL_1", 1: "LABEL_0"})["Labels"] == "LABEL_1, LABEL_0"
    for length, shown in ((38, "x" * 38), (39, "x" * 37 + "…")):
        assert told_of(translator, labels={0: "y" * 40, 1: "x" * length})["Labels"] == f"{'y' * 40}, {shown}"


def test_a_long_setting_is_told_by_its_beginning(translator: Translator) -> None:
    told = told_of(translator, settings={"a": "x" * 80, "b": "x" * 81, "c" * 81: 5})
    assert (told["a"], told["b"], told["c" * 80]) == ("x" * 80, "x" * 79 + "…", "5")


def test_one_layer_of_one_head_is_not_told_as_many(tmp_path: Path) -> None:
    one = {"encoder_layers": 1, "encoder_attention_heads": 1}
    zoo.tiny("bart", changes=one).save_pretrained(tmp_path)
    zoo.save_tokenizer(tmp_path, "metaspace")
    rows = {str(name): str(value) for name, value in describe(open_reader(tmp_path, device="cpu")).rows}
    assert rows["Encoder self-attention"] == "1 layer of 1 head"
    assert rows["Decoder self-attention"] == "2 layers of 2 heads"
    zoo.tiny("bert", changes={"num_hidden_layers": 1, "num_attention_heads": 1}).save_pretrained(tmp_path / "bert")
    zoo.save_tokenizer(tmp_path / "bert", "wordpiece")
    proof = open_reader(tmp_path / "bert", device="cpu").abilities.proof
    assert proof is not None
    assert proof.verdict.endswith(" over 1 head)")
