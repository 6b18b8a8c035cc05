"""A GGUF file, written here as llama.cpp's own package writes them, opens as the model that it was made from."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from model.abilities import Proof
from model.adapters import other_weights
from model.adapters.inspect_folder import kind_in
from model.errors import CheckpointError
from model.opening import as_writer, open_reader
from tests.model.adapters import zoo

gguf = pytest.importorskip("gguf")

TEXT = "The animal was tired"


def _write(file: Path, model: Any) -> None:
    """Write a Qwen 2 with numbers of 8 bits, and put into the model what these numbers are."""
    config = model.config
    writer = gguf.GGUFWriter(str(file), "qwen2")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(config.vocab_size)
    tokenizer: Any = zoo._bytes()
    vocabulary = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    vocabulary += [f"<unused{number}>" for number in range(config.vocab_size - len(vocabulary))]
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(vocabulary)
    writer.add_token_types([3 if token.startswith("<|") else 1 for token in vocabulary])
    merges = json.loads(tokenizer._tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN2, config.num_hidden_layers)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            stored = names.get_name(name, try_suffixes=(".weight", ".bias"))
            if weight.dim() == 1:
                writer.add_tensor(stored, weight.numpy())
                continue
            eight = gguf.quants.quantize(weight.numpy(), gguf.GGMLQuantizationType.Q8_0)
            writer.add_tensor(stored, eight, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
            weight.copy_(torch.from_numpy(gguf.quants.dequantize(eight, gguf.GGMLQuantizationType.Q8_0)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.long
def test_a_gguf_file_opens_as_the_model_that_it_was_made_from(tmp_path: Path) -> None:
    changes = {"intermediate_size": 64, "head_dim": 8, "tie_word_embeddings": False}
    theirs: Any = zoo.tiny("qwen2", changes=changes)
    _write(tmp_path / "tiny.Q8_0.gguf", theirs)
    opened = as_writer(open_reader(tmp_path, "cpu"))
    assert opened.name == tmp_path.name
    assert isinstance(opened.abilities.proof, Proof)
    assert opened.abilities.proof.is_exact
    trace = opened.trace(TEXT)
    assert "".join(trace.target_tokens).replace("▁", " ").strip() == TEXT
    ids = torch.tensor([trace.target_ids])
    with torch.inference_mode():
        expected = theirs(ids, output_attentions=True)
    for layer, weights in enumerate(expected.attentions):
        torch.testing.assert_close(trace.weights("decoder.self", layer), weights[0], atol=1e-5, rtol=0)
    assert trace.predicted_ids[-1] == int(expected.logits[0, -1].argmax())


@pytest.mark.parametrize(
    ("architecture", "kind"), [("t5", "encoder-decoder"), ("t5encoder", "encoder"), ("llama", "decoder")]
)
def test_a_gguf_file_says_itself_which_kind_of_model_it_holds(tmp_path: Path, architecture: str, kind: str) -> None:
    writer = gguf.GGUFWriter(str(tmp_path / "a.gguf"), architecture)
    writer.add_context_length(8)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    assert kind_in(tmp_path) == kind


def test_a_gguf_file_that_cannot_be_read_pushes_out_none_that_could(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_weights, "MOST_KEPT", 1)

    def write(file: Path, target: Path) -> Path:
        if file.read_bytes() == b"GGUF2":
            raise CheckpointError("no")
        return zoo.save_model(target, "gpt2", "bytes")

    monkeypatch.setattr(other_weights, "_write_gguf", write)
    file, cache = tmp_path / "a.gguf", tmp_path / "cache"
    file.write_bytes(b"GGUF1")
    open_reader(file, "cpu", cache=cache)
    (kept,) = (cache / "gguf").iterdir()
    file.write_bytes(b"GGUF2")
    with pytest.raises(CheckpointError, match="no"):
        open_reader(file, "cpu", cache=cache)
    assert list((cache / "gguf").iterdir()) == [kept]


def test_what_a_gguf_file_held_is_kept_by_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_weights, "MOST_KEPT", 1)
    written: list[Path] = []

    def write(file: Path, target: Path) -> Path:
        written.append(file)
        return zoo.save_model(target, "gpt2", "bytes")

    monkeypatch.setattr(other_weights, "_write_gguf", write)
    (tmp_path / "one").mkdir()
    file, cache = tmp_path / "one" / "a.gguf", tmp_path / "cache"
    for content in (b"GGUF1", b"GGUF1", b"GGUF2", b"GGUF1"):
        file.write_bytes(content)
        opened = open_reader(file.parent, "cpu", cache=cache)
        assert opened.name == "one"
        assert len(list((cache / "gguf").iterdir())) == 1
    assert len(written) == 3
