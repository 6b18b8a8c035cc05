"""LoRA adapters: merged as PEFT itself merges them, and nothing else that an adapter may ask for."""

import json
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import transformers

from model.adapters.inspect_folder import folder_with_model, kind_in
from model.adapters.text_reader import TextReader
from model.errors import CheckpointError
from model.opening import open_reader
from tests.model.adapters.zoo import save_model

TEXT = "The animal was tired."
#: Model → the modules that are adapted.
TARGETS = {"gpt2": ["c_attn", "c_proj"], "llama": ["q_proj", "v_proj", "down_proj"], "t5": ["q", "wo"]}


def adapted(root: Path, name: str, **settings: Any) -> transformers.PreTrainedModel:
    """A model at "base" and a LoRA of it, its weights random, at "adapter"; what PEFT itself makes of both."""
    save_model(root / "base", name, "metaspace" if name == "t5" else "bytes")
    kinds: Any = transformers.AutoModelForSeq2SeqLM if name == "t5" else transformers.AutoModelForCausalLM
    config = peft.LoraConfig(
        r=4, lora_alpha=12, target_modules=TARGETS[name], fan_in_fan_out=name == "gpt2", **settings
    )
    wrapped: Any = peft.get_peft_model(kinds.from_pretrained(root / "base"), config)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter_name, parameter in wrapped.named_parameters():
            if "lora_B" in parameter_name:
                parameter.normal_(std=0.3)
    wrapped.save_pretrained(str(root / "adapter"))
    change(root / "adapter", base_model_name_or_path="somebody/base")
    merged: transformers.PreTrainedModel = wrapped.merge_and_unload().eval()
    return merged


def change(folder: Path, **settings: Any) -> None:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | settings), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "settings"), [("gpt2", {}), ("llama", {"use_rslora": True}), ("llama", {"use_dora": True}), ("t5", {})]
)
def test_an_adapter_is_merged_as_peft_merges_it(tmp_path: Path, name: str, settings: dict[str, Any]) -> None:
    theirs = adapted(tmp_path, name, **settings)
    ours, base = (open_reader(tmp_path / folder, device="cpu") for folder in ("adapter", "base"))
    assert isinstance(ours, TextReader)
    assert isinstance(base, TextReader)
    place = ours.place(TEXT)
    given = {"input_ids": torch.tensor([place.source or place.target])}
    if place.source:
        given["decoder_input_ids"] = torch.tensor([place.target])
    with torch.no_grad():
        found, expected = ours.place_logits(place)[0], theirs(**given).logits[0, place.row]
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
        assert not torch.allclose(found, base.place_logits(place)[0], atol=1e-2)
    assert (ours.name, ours.digest != base.digest) == ("adapter", True)
    assert folder_with_model(str(tmp_path / "adapter")) == tmp_path / "adapter"
    assert kind_in(tmp_path / "adapter") == kind_in(tmp_path / "base")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"base_model_name_or_path": "somebody/other"}, "Put the folder of that model next to it under the name other"),
        ({"base_model_name_or_path": "../.."}, "needs its base model"),
        ({"base_model_name_or_path": None}, "its base model: unknown"),
        ({"peft_type": "IA3"}, "merges only LoRA"),
        ({"target_modules": "(a+)+$"}, "asks for target_modules"),
        ({"megatron_config": {"x": 1}, "megatron_core": "os"}, "asks for megatron_config"),
        ({"r": 1_025}, "r should be a number from 1 to 1,024"),
        ({"r": 5}, "does not fit base"),
        ({"target_modules": ["c_attn"]}, "also contains"),
        ({"target_modules": ["c_attn", "c_proj", "c_fc"]}, "lacks"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_a_sentence(
    tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    adapted(tmp_path, "gpt2")
    change(tmp_path / "adapter", **settings)
    with pytest.raises(CheckpointError, match=said.replace("(", r"\(")):
        open_reader(tmp_path / "adapter", device="cpu")


def test_weights_that_are_missing_or_damaged_are_said(tmp_path: Path) -> None:
    adapted(tmp_path, "gpt2")
    weights = tmp_path / "adapter" / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    with pytest.raises(CheckpointError, match="incomplete"):
        open_reader(tmp_path / "adapter")
    weights.unlink()
    with pytest.raises(CheckpointError, match=r"no adapter_model\.safetensors"):
        open_reader(tmp_path / "adapter")


def test_a_server_opens_no_base_outside_of_its_folders(tmp_path: Path) -> None:
    adapted(tmp_path, "gpt2")
    with pytest.raises(CheckpointError, match="opens only folders that its administrator allows"):
        folder_with_model(str(tmp_path / "adapter"), [tmp_path / "adapter"])
    assert folder_with_model(str(tmp_path / "adapter"), [tmp_path])
