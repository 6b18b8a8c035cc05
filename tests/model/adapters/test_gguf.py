"""A GGUF file, written here as llama.cpp's own package writes them, opens as the model that it was made from."""

import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from model.abilities import Proof
from model.adapters import other_weights, weights_process
from model.adapters.folder_check import check_folder
from model.adapters.gguf_header import check_header, read_header
from model.adapters.inspect_folder import kind_in
from model.adapters.limited_process import answered
from model.opening import as_writer, open_reader
from model.sealed_files import write_sealed
from tests.model.adapters import zoo

gguf = pytest.importorskip("gguf")

TEXT = "The animal was tired"


def _write(file: Path, model: Any, *, blocks: int | None = None, lacks: str = "-", **more: torch.Tensor) -> None:
    """Write a Qwen 2 with numbers of 8 bits, and put into the model what these numbers are.

    It may say that it has another number of blocks, lack the tensors with a part of a name, and have `more`.
    """
    config = model.config
    writer = gguf.GGUFWriter(str(file), "qwen2")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(blocks or config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(config.vocab_size)
    tokenizer: Any = zoo.byte_level()
    vocabulary = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    vocabulary += [f"<unused{number}>" for number in range(config.vocab_size - len(vocabulary))]
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(vocabulary)
    writer.add_token_types([3 if token.startswith("<|") else 1 for token in vocabulary])
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN2, config.num_hidden_layers)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            stored = names.get_name(name, try_suffixes=(".weight", ".bias"))
            if lacks in stored:
                continue
            if weight.dim() == 1:
                writer.add_tensor(stored, weight.numpy())
                continue
            eight = gguf.quants.quantize(weight.numpy(), gguf.GGMLQuantizationType.Q8_0)
            writer.add_tensor(stored, eight, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
            weight.copy_(torch.from_numpy(gguf.quants.dequantize(eight, gguf.GGMLQuantizationType.Q8_0)))
    for stored, weight in more.items():
        writer.add_tensor(f"{stored}.weight", weight.numpy())
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
    ("changes", "wrong"),
    [
        ({"lacks": ""}, "embedding_length = 32; by its tensors, at most 0"),
        ({"lacks": "blk.1.attn_q.w"}, "lack model.layers.1.self_attn.q_proj.weight"),
        ({"lacks": "output_norm"}, "lack model.norm.weight"),
        ({"blocks": 1}, "contain blk.1.attn_k.bias, which transformers does not use"),
        ({"blocks": 3}, "block_count = 3; by its tensors, at most 2"),
        ({"rope_freqs": torch.tensor([1.0, 8.0])}, "contain rope_freqs.weight"),
        ({"rope_freqs": torch.ones(2)}, ""),
    ],
)
def test_a_gguf_file_is_opened_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], wrong: str
) -> None:
    # A process of its own takes seconds.
    monkeypatch.setattr(other_weights, "answer_of", lambda _, files, **__: answered(weights_process.answer_to, *files))
    settings = {"intermediate_size": 64, "head_dim": 8, "tie_word_embeddings": False}
    _write(tmp_path / "tiny.gguf", zoo.tiny("qwen2", changes=settings), **changes)
    if wrong:
        zoo.refused(tmp_path / "tiny.gguf", f"tiny.gguf is a GGUF file .*{wrong}")
    else:
        assert open_reader(tmp_path / "tiny.gguf", "cpu").abilities.generates


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


CHANGES = {"intermediate_size": 64, "head_dim": 8}


@pytest.fixture(scope="module")
def gguf_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    _write(file, zoo.tiny("qwen2", changes=CHANGES))
    return file


@pytest.fixture(scope="module")
def opened_once(gguf_file: Path) -> tuple[Path, Path, torch.Tensor]:
    """A GGUF file, a cache in which it was opened, and weights of its model."""
    cache = gguf_file.with_name("cache")
    trace = open_reader(gguf_file, "cpu", cache=cache).trace(TEXT)
    return gguf_file, cache, trace.weights("decoder.self", 0)


def _kept(cache: Path) -> Path:
    """The weights of the only conversion that is kept."""
    (kept,) = (cache / "gguf").glob("*/*/model.safetensors")
    return kept


@pytest.mark.long
def test_what_a_gguf_file_held_is_kept(opened_once: tuple[Path, Path, torch.Tensor], tmp_path: Path) -> None:
    file, cache, weights = opened_once
    shutil.copytree(cache, tmp_path / "cache")
    before = _kept(tmp_path / "cache").stat()
    opened = open_reader(file, "cpu", cache=tmp_path / "cache")
    torch.testing.assert_close(opened.trace(TEXT).weights("decoder.self", 0), weights, atol=0, rtol=0)
    assert os.path.samestat(_kept(tmp_path / "cache").stat(), before)


def _truncated(cache: Path) -> None:
    kept = _kept(cache)
    os.truncate(kept, kept.stat().st_size - 100)


def _zeroed(cache: Path) -> None:
    kept = _kept(cache)
    with kept.open("r+b") as file:
        file.seek(kept.stat().st_size // 2)
        file.write(bytes(4_000))


def _with_other_settings(cache: Path) -> None:
    config = _kept(cache).with_name("config.json")
    settings = json.loads(config.read_text(encoding="utf-8"))
    settings["rms_norm_eps"] = 0.5
    config.write_text(json.dumps(settings), encoding="utf-8")


def _sealed_by_another(cache: Path) -> None:
    """Other weights, under a seal that a cache elsewhere made."""
    _zeroed(cache)
    home = _kept(cache).parent
    other = cache.with_name("other")
    forged = other / home.parent.relative_to(cache) / "seal.json"
    write_sealed(other, forged, {"folder": check_folder(home).digest()})
    shutil.copy(forged, home.parent / "seal.json")


@pytest.mark.long
@pytest.mark.parametrize("damage", [_truncated, _zeroed, _with_other_settings, _sealed_by_another])
def test_a_conversion_that_is_not_as_it_was_made_is_made_anew(
    opened_once: tuple[Path, Path, torch.Tensor], tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    file, cache, weights = opened_once
    shutil.copytree(cache, tmp_path / "cache")
    damage(tmp_path / "cache")
    opened = open_reader(file, "cpu", cache=tmp_path / "cache")
    torch.testing.assert_close(opened.trace(TEXT).weights("decoder.self", 0), weights, atol=0, rtol=0)
    assert _kept(tmp_path / "cache").read_bytes() == _kept(cache).read_bytes()


def _with(content: bytes, key: str, form: str, value: int, after: int = 4) -> bytes:
    """A file with another number so many bytes after a name: a setting, or what a list or tensor claims."""
    at = content.index(key.encode()) + len(key) + after
    return content[:at] + struct.pack(form, value) + content[at + struct.calcsize(form) :]


#: What a file says, and what is said of it.
CLAIMS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "layers": (lambda whole: _with(whole, "qwen2.block_count", "<I", 10**6), "block_count = 1,000,000; by .* 2 can"),
    "one layer more": (lambda whole: _with(whole, "qwen2.block_count", "<I", 3), "block_count = 3; by its tensors"),
    "heads": (lambda whole: _with(whole, "qwen2.attention.head_count", "<I", 10**9), "head_count = 1,000,000,000"),
    "width": (lambda whole: _with(whole, "qwen2.embedding_length", "<I", 2 * 10**9), "embedding_length = 2,000"),
    "words": (lambda whole: _with(whole, "qwen2.vocab_size", "<I", 2 * 10**9), "vocab_size = 2,000,000,000"),
    "positions": (lambda whole: _with(whole, "qwen2.context_length", "<I", 4 * 10**9), "context_length = 4,000,000"),
    "tensors": (lambda whole: whole[:8] + struct.pack("<Q", 2**60) + whole[16:], "1,152,921,504,606,846,976 entries"),
    "settings": (lambda whole: whole[:16] + struct.pack("<Q", 2**60) + whole[24:], "entries follow, and at most 4,096"),
    "numbers of a list": (lambda whole: _with(whole, "ggml.token_type", "<Q", 2**60, 8), "entries follow"),
    "texts of a list": (lambda whole: _with(whole, "ggml.tokens", "<Q", 2**60, 8), "entries follow"),
    "more than the rest": (lambda whole: _with(whole, "ggml.tokens", "<Q", len(whole) // 8 - 4, 8), "entries follow"),
    "a text": (lambda whole: _with(whole, "tokenizer.ggml.model", "<Q", 2**60), "entries follow"),
    "a tensor": (lambda whole: _with(whole, "token_embd.weight", "<Q", 2**40), "more than its bytes hold"),
    "dimensions": (lambda whole: _with(whole, "token_embd.weight", "<I", 9, 0), "9 entries follow, and at most 4"),
    "a version": (lambda whole: whole[:4] + struct.pack("<I", 9) + whole[8:], "version 9 of the format"),
    "an end": (lambda whole: whole[: whole.index(b"token_embd")], "it ends before its tensors|entries follow"),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_a_gguf_file_claims_is_bounded_by_what_it_has_before_anything_is_built(
    claim: str, gguf_file: Path, tmp_path: Path
) -> None:
    change, said = CLAIMS[claim]
    file = tmp_path / "a.gguf"
    file.write_bytes(change(gguf_file.read_bytes()))
    with pytest.raises(ValueError, match=said):
        check_header(read_header(file))
