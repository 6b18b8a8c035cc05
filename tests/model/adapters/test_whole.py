"""A folder is opened whole or not at all: tensors with the names of real models; some missing, left or misshapen."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from model.abilities import Whole
from model.adapters import other_weights, placement, weights_process
from model.adapters.limited_process import answered
from model.adapters.placement import is_spread
from model.adapters.text_reader import TextReader
from model.opening import open_reader
from tests.model.adapters import zoo
from tests.model.adapters.zoo import CONFIGS, VOCAB, refused, save_model, set_config

Tensors = dict[str, torch.Tensor]
Change = Callable[[Tensors], Mapping[str, torch.Tensor]]


def rewrite(folder: Path, change: Change) -> Path:
    """The same folder with other tensors."""
    changed = change(load_file(folder / "model.safetensors"))
    save_file({name: tensor.clone() for name, tensor in changed.items()}, folder / "model.safetensors")
    return folder


def with_more(*shapes: tuple[str, tuple[int, ...]], **tensors: torch.Tensor) -> Change:
    """Random tensors of these shapes beside the others, and these ones."""
    return lambda own: own | {name: torch.randn(shape) for name, shape in shapes} | tensors


def without(part: str) -> Change:
    """The tensors in whose names this is not."""
    return lambda own: {name: own[name] for name in own if part not in name}


def whole_of(folder: Path) -> Whole:
    found = open_reader(folder, "cpu").abilities.whole
    assert found is not None
    return found


def as_in_2018(own: Tensors) -> Tensors:
    return {name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): own[name] for name in own}


def bert_base_uncased(tmp_path: Path) -> Path:
    """Norms called gamma and beta, a pooler, the next sentence's head, and the tied table once more."""
    folder = save_model(tmp_path, "bert", head="masked")
    pooler = [("bert.pooler.dense.weight", (32, 32)), ("bert.pooler.dense.bias", (32,))]
    following = [("cls.seq_relationship.weight", (2, 32)), ("cls.seq_relationship.bias", (2,))]
    return rewrite(folder, lambda own: as_in_2018(dict(with_more(*pooler, *following)(own))))


def gpt2(tmp_path: Path) -> Path:
    """Without a prefix, and in each layer the causal mask with the number that it hides keys by."""
    folder = save_model(tmp_path, "gpt2", "bytes")

    def change(own: Tensors) -> Tensors:
        found = {name.removeprefix("transformer."): tensor for name, tensor in own.items()}
        for layer in range(2):
            found[f"h.{layer}.attn.bias"] = torch.ones(96, 96).tril()[None, None]
            found[f"h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
        return found

    return rewrite(folder, change)


def t5_small(tmp_path: Path) -> Path:
    """The table in three places, and a bias of the cross-attention that no version ever used."""
    folder = save_model(tmp_path, "t5", "metaspace")
    unused = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
    tables = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
    set_config(folder, architectures=["T5WithLMHeadModel"])
    return rewrite(
        folder, lambda own: {**with_more((unused, (8, 4)))(own), **dict.fromkeys(tables, own["shared.weight"])}
    )


def gpt2_of_a_reward_model(tmp_path: Path) -> Path:
    """With the head for values that TRL adds, and a head of two linear layers."""
    folder = save_model(tmp_path, "gpt2", "bytes")
    return rewrite(folder, with_more(("v_head.summary.weight", (1, 32)), ("classifier.0.weight", (8, 32))))


#: Real model → its folder, the class that it is opened as, and what the folder has besides.
REAL: dict[str, tuple[Callable[[Path], Path], str, set[str]]] = {
    "bert-base-uncased": (bert_base_uncased, "BertForMaskedLM", {"head"}),
    "gpt2": (gpt2, "GPT2LMHeadModel", {"buffer", "ignorable"}),
    "t5-small": (t5_small, "T5ForConditionalGeneration", {"ignorable"}),
    "trl": (gpt2_of_a_reward_model, "GPT2LMHeadModel", {"head"}),
}


@pytest.mark.parametrize("name", REAL)
def test_the_commonest_models_open_and_say_what_they_leave(tmp_path: Path, name: str) -> None:
    made, opened_as, reasons = REAL[name]
    folder = made(tmp_path)
    reader = open_reader(folder, "cpu")
    assert isinstance(reader, TextReader)
    whole = reader.abilities.whole
    assert whole is not None
    assert type(reader.model).__name__ == opened_as
    assert opened_as in whole.opened_as
    assert set(whole.unused.values()) == reasons
    assert not whole.unread
    stored = load_file(folder / "model.safetensors")
    assert whole.used + len(whole.unused) == len(stored)
    # What is used is what the model holds, whatever it is called there.
    held = {tuple(weight.flatten()[:8].tolist()) for weight in reader.model.state_dict().values()}
    used = [tensor for tensor in stored if tensor not in whole.unused]
    assert all(tuple(stored[tensor].flatten()[:8].tolist()) in held for tensor in used)


def copies_of_layer(own: Tensors, layer: str, to: str) -> Tensors:
    return {name.replace(f".{layer}.", f".{to}."): own[name] for name in own if f"layer.{layer}." in name}


#: What is changed in a folder → its kind of model, and how the folder is refused.
Wrong = tuple[str, str | None, Change, dict[str, object], str]
WRONG: dict[str, Wrong] = {
    "fewer layers": ("bert", "masked", dict, {"num_hidden_layers": 1}, "contain bert.encoder.layer.1.*does not have"),
    "more layers": ("bert", "masked", dict, {"num_hidden_layers": 3}, "lack bert.encoder.layer.2"),
    "no table": ("gpt2", None, without("wte"), {}, "lack lm_head.weight and 1 more"),
    "no last norm": ("gpt2", None, without("ln_f"), {}, "lack .*ln_f"),
    "no head": ("bert", "masked", without("cls"), {}, "lack cls.predictions"),
    "wider": ("bert", "masked", dict, {"intermediate_size": 40}, "in the shape 48.*not 40"),
    "another table": (
        "bert", "masked", with_more(("bert.embeddings.word_class.weight", (4, 32))), {}, "bert.embeddings.word_class",
    ),
    "another norm": ("llama", None, with_more(("model.norm_of_rows.weight", (32,))), {}, "model.norm_of_rows.weight"),
    "a bias more": ("llama", None, with_more(("model.norm.bias", (32,))), {}, "contain model.norm.bias"),
    "a bias of the head": ("llama", None, with_more(("lm_head.bias", (VOCAB,))), {}, "contain lm_head.bias"),
    "a layer twice": ("bert", None, lambda own: own | copies_of_layer(own, "1", "2"), {}, "contain encoder.layer.2"),
    "a gate": ("llama", None, with_more(("model.layers.0.gate", (1,))), {}, "contain model.layers.0.gate"),
    "pictures too": (
        "llama", None, with_more(("vision.blocks.0.attn.weight", (32, 32))), {}, "contain vision.blocks.0.attn",
    ),
    "a decoder of a whole": ("bart", None, dict, {"architectures": ["BartForCausalLM"]}, "contain model.encoder"),
    "an encoder of a whole": ("t5", None, dict, {"architectures": ["BertModel"], "num_decoder_layers": 1}, "decoder"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_not_whole_is_refused_with_the_tensor_s_name(tmp_path: Path, what: str) -> None:
    model_type, head, change, settings, words = WRONG[what]
    folder = save_model(tmp_path, model_type, "metaspace", head=head)
    set_config(rewrite(folder, change), **settings)
    refused(folder, words)


def pickled(folder: Path) -> None:
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def parts(folder: Path) -> None:
    """Without metadata in the index, as some programs write it."""
    tensors = load_file(folder / "model.safetensors")
    where = {name: f"model-0000{number % 2 + 1}-of-00002.safetensors" for number, name in enumerate(sorted(tensors))}
    for part in set(where.values()):
        save_file({name: tensors[name] for name in where if where[name] == part}, folder / part)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}), encoding="utf-8")
    (folder / "model.safetensors").unlink()


ROUTES: dict[str, Callable[[Path], None]] = {
    "safetensors": lambda folder: None, "pickled": pickled, "parts": parts,
    "disk": lambda folder: None,
}  # fmt: skip


@pytest.mark.parametrize("route", ROUTES)
def test_the_rule_is_the_same_however_the_weights_are_stored(
    tmp_path: Path, route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process of its own takes seconds.
    monkeypatch.setattr(other_weights, "answer_of", lambda _, files, **__: answered(weights_process.answer_to, *files))
    folder = rewrite(save_model(tmp_path / "whole", "llama", "bytes"), with_more(("score.weight", (2, 32))))
    expected: Any = open_reader(folder, "cpu").trace("the animal").weights("decoder.self", 1)
    lacking = rewrite(save_model(tmp_path / "lacking", "llama", "bytes"), lambda own: dict(sorted(own.items())[:-1]))
    more = rewrite(
        save_model(tmp_path / "more", "llama", "bytes"), with_more(("model.layers.2.mlp.up_proj.weight", (9,)))
    )
    for each in (folder, lacking, more):
        ROUTES[route](each)
    if route == "disk":
        monkeypatch.setattr(placement, "available_bytes", lambda device: 60_000)
    reader: Any = open_reader(folder, "cpu")
    assert is_spread(reader.model) == (route == "disk")
    assert torch.equal(reader.trace("the animal").weights("decoder.self", 1), expected)
    assert reader.abilities.whole.unused == {"score.weight": "head"}
    refused(lacking, "lack model.norm.weight")
    refused(more, "contain model.layers.2.mlp.up_proj.weight")


@pytest.mark.parametrize(
    ("model_type", "head", "named", "opened_as"),
    [
        ("bert", None, None, "BertModel; config.json names no class"),
        ("bert", "masked", None, "BertForMaskedLM; config.json names no class"),
        ("bert", "masked", ["BertForPreTraining"], "BertForMaskedLM; .* does not run BertForPreTraining"),
        ("bert", "masked", ["BertModel"], "BertModel, as config.json says"),
        ("gpt2", None, ["GPT2DoubleHeadsModel"], "GPT2LMHeadModel; "),
        ("llama", None, ["OfSomeoneElse"], "LlamaForCausalLM; "),
        ("llama", "encoder", None, "LlamaModel; "),
        ("vit", None, ["ViTForImageClassification"], "ViTModel; .* does not run ViTForImageClassification"),
    ],
)
def test_the_class_is_the_one_named_or_one_whose_head_is_in_the_folder(
    tmp_path: Path, model_type: str, head: str | None, named: list[str] | None, opened_as: str
) -> None:
    folder = save_model(tmp_path, model_type, "metaspace", head=head)
    if model_type == "vit":
        transformers.ViTImageProcessor(size={"height": 24, "width": 24}).save_pretrained(folder)
    set_config(folder, architectures=named)
    assert re.match(opened_as, whole_of(folder).opened_as)


def trocr(folder: Path) -> Path:
    sizes: dict[str, Any] = {"d_model": 32, "decoder_layers": 2, "decoder_attention_heads": 4, "decoder_ffn_dim": 48}
    config = transformers.TrOCRConfig(vocab_size=VOCAB, max_position_embeddings=96, **sizes)
    transformers.TrOCRForCausalLM(config).save_pretrained(folder)
    zoo.save_tokenizer(folder, "metaspace")
    return folder


def bart_s_decoder(folder: Path) -> Path:
    config = transformers.BartConfig(**CONFIGS["bart"], is_encoder_decoder=False)
    transformers.BartForCausalLM(config).save_pretrained(folder)
    zoo.save_tokenizer(folder, "metaspace")
    return folder


@pytest.mark.parametrize("save", [trocr, bart_s_decoder])
def test_a_decoder_whose_encoder_is_not_in_the_folder_is_refused(tmp_path: Path, save: Callable[[Path], Path]) -> None:
    refused(save(tmp_path), "a part of a model: .*(encoder_attn|crossattention) never runs, because it attends to what")


def seeing(folder: Path, kind: str) -> Path:
    """A folder with a model that reads texts and pictures together: three layers for texts and two for pictures."""
    text = {**CONFIGS["gemma3_text"], "num_hidden_layers": 3, "model_type": "llama"}
    vision: dict[str, Any] = {**zoo.PATCHES, "model_type": "siglip_vision_model"}
    made: transformers.PreTrainedModel
    if kind == "gemma3":
        text |= {"model_type": "gemma3_text"}
        made = transformers.Gemma3ForConditionalGeneration(
            transformers.Gemma3Config(text_config=text, vision_config=vision, mm_tokens_per_image=9)
        )
    elif kind == "llava":
        made = transformers.LlavaForConditionalGeneration(
            transformers.LlavaConfig(text_config=text, vision_config=vision, image_seq_length=9)
        )
    else:
        turned = {"rope_theta": 1e4, "rope_type": "default", "mrope_section": [2, 1, 1]}
        text |= {"model_type": "qwen2_vl_text", "rope_parameters": turned}
        vision = {"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 4, "patch_size": 8}
        made = transformers.Qwen2VLForConditionalGeneration(
            transformers.Qwen2VLConfig(text_config=text, vision_config=vision)
        )
    made.save_pretrained(folder)
    zoo.save_tokenizer(folder, "metaspace")
    return folder


@pytest.mark.parametrize("kind", ["llava", "qwen2_vl"])
@pytest.mark.parametrize("is_named", [True, False])
def test_a_model_of_texts_and_pictures_is_not_opened_as_its_half_for_texts(
    tmp_path: Path, kind: str, is_named: bool
) -> None:
    folder = seeing(tmp_path, kind)
    if not is_named:
        set_config(folder, architectures=None)
    refused(folder, f"a decoder that reads the tokens of a picture within its text .{kind}.")


def test_what_a_text_does_not_run_is_listed(tmp_path: Path) -> None:
    whole = whole_of(seeing(tmp_path, "gemma3"))
    assert whole.not_run == ("model.vision_tower", "model.multi_modal_projector")
    assert not whole.unused
