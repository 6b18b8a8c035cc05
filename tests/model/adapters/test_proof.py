"""A model is proven when it is opened, or the verdict says otherwise; a verdict is kept by content, and believed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers.models.llama import modeling_llama

from model.adapters import capture, library, proof
from model.adapters.folder_check import check_folder
from model.adapters.open_folder import explore
from model.adapters.text_reader import TextReader
from model.adapters.text_writer import TextWriter
from model.analysis.residual_stream.token_path import follow
from model.description import describe
from model.errors import CheckpointError, TraceError
from model.opening import open_reader
from model.sealed_files import sealed_name, write_sealed
from tests.model.adapters import zoo
from tests.model.adapters.zoo import refused
from tests.paths import ROOT

library.register(capture.attend, capture.causal_or_padding)
TEXT = "the animal did not cross the street"
JAMBA: dict[str, Any] = zoo.SMALL | {
    "num_key_value_heads": 2,
    "attn_layer_period": 2,
    "attn_layer_offset": 1,
    "mamba_dt_rank": 4,
}
JAMBA |= {"num_hidden_layers": 4, "num_experts": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": None}


def save(folder: Path, made: Any, config: Any, tokenizer: str = "metaspace") -> Path:
    """A folder with a random model of this class."""
    torch.manual_seed(0)
    model = made(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.2)
    model.save_pretrained(folder)
    zoo.save_tokenizer(folder, tokenizer)
    return folder


def config_of(model_type: str, settings: Mapping[str, Any]) -> Any:
    return transformers.AutoConfig.for_model(model_type, **settings)


def jamba(folder: Path) -> Path:
    return save(folder, transformers.JambaForCausalLM, config_of("jamba", JAMBA))


@pytest.mark.parametrize(
    ("model_type", "positions", "length"),
    [
        ("bert", "learned", 96),
        ("roberta", "learned", 96 - 2),
        ("bart", "learned", 96),
        ("marian", "sinusoidal", 96),
        ("ctrl", "sinusoidal", 96),
        ("llama", "rotary", 96),
        ("gpt_oss", "rotary", 96),
        ("bloom", "ALiBi", None),
        ("mpt", "ALiBi", 96),
        ("t5", "relative bias", None),
    ],
)
def test_how_a_model_knows_positions_is_found_by_running_it(
    model_type: str, positions: str, length: int | None
) -> None:
    _, abilities = explore(zoo.tiny(model_type))
    assert abilities.positions == positions
    assert abilities.proof is not None
    # The probe has 13 tokens, a target one fewer.
    assert (abilities.proof.heads, abilities.proof.tokens) == (sum(map(sum, abilities.heads.values())), 13)
    # Where nothing else limits a text, the memory for the weights of all heads does.
    assert abilities.max_length == length if length else (abilities.max_length or 0) > 1_000


def test_layers_that_do_not_attend_are_named_and_the_others_are_exact(tmp_path: Path) -> None:
    reader = open_reader(jamba(tmp_path / "jamba"))
    assert isinstance(reader, TextWriter)
    assert reader.abilities.heads == {"decoder.self": (4, 4)}
    assert reader.abilities.proof is not None
    assert reader.abilities.proof.is_exact
    rows = dict(describe(reader).rows)
    assert rows["Layers with attention"].startswith("2, 4 of 4; the others (JambaMambaMixer)")
    with pytest.raises(TraceError, match="layers without attention between"):
        follow(reader, reader.trace(TEXT), "decoder", 3)
    # Its state cannot be cut back, so each step reads all again.
    session = reader.decode(TEXT)
    for _ in range(6):
        session.step()
    written = list(session.written_ids)
    for move in (session.back, session.back, session.step, session.step):
        move()
    assert list(session.written_ids) == written
    source = torch.tensor([reader.source(TEXT).ids])
    expected = reader.model.generate(source, max_new_tokens=6, do_sample=False)  # type: ignore[operator]
    assert written == expected[0, source.size(1) :].tolist()


def test_a_model_without_attention_is_one_sentence(tmp_path: Path) -> None:
    config = transformers.MambaConfig(vocab_size=zoo.VOCAB, hidden_size=32, num_hidden_layers=2, state_size=8)
    refused(save(tmp_path / "mamba", transformers.MambaForCausalLM, config), "No attention was found in this Mamba")


def test_a_decoder_saved_without_its_head_opens_for_its_attention(tmp_path: Path) -> None:
    config = config_of("mistral", zoo.CONFIGS["mistral"])
    reader = open_reader(save(tmp_path / "mistral", transformers.MistralModel, config))
    assert isinstance(reader, TextReader)
    assert (reader.abilities.kind, reader.abilities.generates) == ("decoder", False)
    assert "without its output layer" in reader.abilities.lacks["decoding"]
    trace = reader.trace(TEXT)
    assert not trace.steps
    ids = torch.tensor([trace.target_ids], device=reader.device)
    reader.model.set_attn_implementation("eager")  # type: ignore[operator]
    with torch.inference_mode():
        eager = reader.model(ids, output_attentions=True).attentions
    for layer, weights in enumerate(eager):
        torch.testing.assert_close(trace.weights("decoder.self", layer), weights[0].cpu(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("made", [transformers.Gemma3TextModel, transformers.Gemma3ForCausalLM])
def test_a_decoder_that_looks_both_ways_is_offered_nothing_it_was_not_trained_for(tmp_path: Path, made: Any) -> None:
    config = config_of("gemma3_text", zoo.CONFIGS["gemma3_text"] | {"use_bidirectional_attention": True})
    reader = open_reader(save(tmp_path / "embedder", made, config))
    abilities = reader.abilities
    assert (abilities.kind, abilities.generates) == ("encoder", False)
    assert {"decoding", "beam", "logit lens", "word choice"} <= set(abilities.lacks)
    assert "AutoModelForMaskedLM" not in abilities.lacks["word choice"]
    trace = reader.trace(TEXT)
    assert isinstance(reader, TextReader)
    ids = torch.tensor([trace.source_ids], device=reader.device)
    reader.model.set_attn_implementation("eager")  # type: ignore[operator]
    with torch.inference_mode():
        eager = reader.model(ids, output_attentions=True).attentions
    for layer, weights in enumerate(eager):
        assert bool(weights.triu(1).any())
        torch.testing.assert_close(trace.weights("encoder.self", layer), weights[0].cpu(), atol=1e-5, rtol=0)


def test_weights_of_another_attention_than_the_model_runs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    eager = modeling_llama.eager_attention_forward

    def rescaled(*given: Any, scaling: float, **options: Any) -> Any:
        return eager(*given, **{**options, "scaling": scaling * 1.1})

    monkeypatch.setattr(modeling_llama, "eager_attention_forward", rescaled)
    with pytest.raises(CheckpointError, match="different results from the fused attention"):
        explore(zoo.tiny("llama"))


def test_attention_that_changes_with_the_length_of_a_text_is_refused() -> None:
    settings = zoo.TWO_STACKS | {"attention_type": "block_sparse", "block_size": 4}
    config = config_of("bigbird_pegasus", settings)
    with pytest.raises(CheckpointError, match="differently in short and in long texts"):
        explore(transformers.BigBirdPegasusForConditionalGeneration(config).eval())


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    folder = zoo.save_model(tmp_path / "bert", "bert")
    tensors = load_file(folder / "model.safetensors")
    tensors["encoder.layer.0.output.dense.weight"][0, 0] = float("nan")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    refused(folder, "not numbers")


def test_a_model_of_few_positions_is_proven_on_fewer_tokens(tmp_path: Path) -> None:
    config = config_of("gpt2", zoo.CONFIGS["gpt2"] | {"n_positions": 12})
    reader = open_reader(save(tmp_path / "short", transformers.GPT2LMHeadModel, config, "bytes"))
    assert (reader.abilities.max_length, reader.abilities.generates) == (12, True)


def test_a_model_that_gives_different_results_is_refused() -> None:

    model: Any = zoo.tiny("bert")
    model.embeddings.register_forward_hook(lambda module, given, output: output + torch.rand(()))
    with pytest.raises(CheckpointError, match="different results when it reads the same text twice"):
        explore(model)


def noted(root: Path, note: str) -> Path:
    """A folder with the same model whose content differs from others of it by a note."""
    folder = zoo.save_model(root / note, "gpt2", "bytes")
    (folder / "note.txt").write_text(note, encoding="utf-8")
    return folder


def resealed(verdict: Path, cache: Path, **changes: object) -> Path:
    """The verdict with other values, under the seal of a cache."""
    kept = json.loads(verdict.read_text(encoding="utf-8"))["content"] | changes
    to = cache / verdict.relative_to(verdict.parents[1])
    write_sealed(cache, to, kept)
    return to


def changed(verdict: Path) -> None:
    kept = json.loads(verdict.read_text(encoding="utf-8"))
    kept["content"]["difference"] = 0.5
    verdict.write_text(json.dumps(kept), encoding="utf-8")


def sealed_elsewhere(verdict: Path) -> None:
    """As whoever knows this code would make it, without the key of this cache."""
    shutil.copy(resealed(verdict, verdict.parents[2] / "other", difference=0.5), verdict)


def sealed_by_a_key_for_all(verdict: Path) -> None:
    """With the key, which others may have read."""
    resealed(verdict, verdict.parents[1], difference=0.5)
    (verdict.parents[1] / "key").chmod(0o644)


def of_another_content(verdict: Path) -> None:
    """A verdict that is sealed, of other weights."""
    before = list(verdict.parent.iterdir())
    open_reader(noted(verdict.parents[2], "another"), "cpu", cache=verdict.parents[1])
    (new,) = (file for file in verdict.parent.iterdir() if file not in before)
    new.replace(verdict)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut": lambda verdict: os.truncate(verdict, verdict.stat().st_size - 9),
    "changed": changed,
    "sealed elsewhere": sealed_elsewhere,
    "sealed by a key for all": sealed_by_a_key_for_all,
    "of another content": of_another_content,
    "of a strange kind": lambda verdict: resealed(verdict, verdict.parents[1], positions="<script>"),
    "of other heads": lambda verdict: resealed(verdict, verdict.parents[1], heads={"decoder.self": [4, 3]}),
}


@pytest.fixture(scope="module")
def opened_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and a cache for each damage, which another process has opened."""
    root = tmp_path_factory.mktemp("opened")
    for name in (*DAMAGES, "undamaged"):
        # Each is a content of its own, of which this process knows nothing.
        noted(root / name, f"note {name}").rename(root / name / "gpt2")
    code = (
        f"from pathlib import Path; from model.opening import open_reader\nfor folder in Path({str(root)!r}).iterdir():"
        "  open_reader(folder / 'gpt2', 'cpu', cache=folder / 'cache')"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=300)
    return root


@pytest.mark.long
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_verdict_that_cannot_be_believed_is_proven_anew(opened_before: Path, damage: str) -> None:
    home = opened_before / damage
    (verdict,) = (home / "cache" / "verdicts").iterdir()
    DAMAGES[damage](verdict)
    wrong = verdict.read_bytes()
    found = open_reader(home / "gpt2", "cpu", cache=home / "cache").abilities
    assert found.proof is not None
    assert found.proof.difference < 1e-4
    assert (found.heads, found.positions) == ({"decoder.self": (4, 4)}, "learned")
    assert verdict.read_bytes() != wrong


@pytest.mark.long
def test_a_verdict_of_another_process_is_believed_and_its_key_is_for_its_owner_alone(opened_before: Path) -> None:
    home = opened_before / "undamaged"
    (verdict,) = (home / "cache" / "verdicts").iterdir()
    before = verdict.stat()
    assert open_reader(home / "gpt2", "cpu", cache=home / "cache").abilities.proof is not None
    assert os.path.samestat(verdict.stat(), before)
    assert (home / "cache" / "key").stat().st_mode & 0o777 == 0o600


def test_a_verdict_is_written_through_no_link(tmp_path: Path) -> None:
    folder = noted(tmp_path, "first")
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (elsewhere / "mine").write_text("mine", encoding="utf-8")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "verdicts").symlink_to(elsewhere)
    assert open_reader(folder, "cpu", cache=tmp_path / "linked").abilities.proof is not None
    folder = noted(tmp_path, "second")
    name = sealed_name(check_folder(folder).digest(), "cpu", "torch.float32")
    (tmp_path / "cache" / "verdicts").mkdir(parents=True)
    (verdict := tmp_path / "cache" / "verdicts" / f"{name}.json").symlink_to(elsewhere / "mine")
    assert open_reader(folder, "cpu", cache=tmp_path / "cache").abilities.proof is not None
    assert verdict.is_file()
    assert not verdict.is_symlink()
    assert [(file.name, file.read_text(encoding="utf-8")) for file in elsewhere.iterdir()] == [("mine", "mine")]


def test_a_folder_that_cannot_be_written_to_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    assert open_reader(noted(tmp_path, "third"), "cpu", cache=tmp_path / "cache").abilities.proof is not None


def test_few_files_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "MOST_FILES", 2)
    for seed in range(4):
        zoo.tiny("gpt2", seed=10 + seed).save_pretrained(tmp_path / "gpt2")
        zoo.save_tokenizer(tmp_path / "gpt2", "bytes")
        open_reader(tmp_path / "gpt2", "cpu", cache=tmp_path / "cache")
    assert len(list((tmp_path / "cache" / "verdicts").iterdir())) == 2
