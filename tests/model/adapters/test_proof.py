"""A model is proven when it is opened, or the verdict says otherwise; a verdict is kept by content, and believed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from model.abilities import Abilities
from model.adapters import capture, library, open_folder, proof
from model.adapters.folder_check import check_folder
from model.adapters.generation import wrong_with_writing
from model.adapters.open_folder import explore
from model.adapters.probe import Probe
from model.adapters.proof import NOWHERE, explore_model
from model.adapters.text_reader import TextReader
from model.adapters.text_writer import TextWriter
from model.analysis.residual_stream.library_path import follow_in_library
from model.description import describe
from model.errors import CheckpointError, TraceError
from model.nn.attention import AttentionInputs
from model.nn.masks import AttentionMask
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
        ("opt", "learned", 96),
        ("bart", "learned", 96),
        ("marian", "sinusoidal", 96),
        ("m2m_100", "sinusoidal", 96),
        ("ctrl", "sinusoidal", 96),
        ("llama", "rotary", 96),
        ("falcon", "rotary", 96),
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


def test_a_setting_with_the_name_of_rotary_positions_rotates_nothing() -> None:
    # Weights only: that vectors are rotated is seen while it reads.
    settings = {"vocab_size": zoo.VOCAB, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48, "rope_theta": 1.0}
    torch.manual_seed(0)
    model = transformers.XLNetModel(config_of("xlnet", settings)).eval()
    assert explore(model)[1].positions == "relative bias"
    settings = {"vocab_size": zoo.VOCAB, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 96, "rotary_dim": 4}
    codegen: Any = transformers.CodeGenForCausalLM(config_of("codegen", settings)).eval()
    with torch.no_grad():
        for parameter in codegen.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.25)
    proof = explore(codegen)[1].proof
    assert proof is not None
    assert not proof.is_exact
    del codegen.config.rotary_dim
    assert explore(codegen)[1].positions == "rotary"


def test_a_picture_model_whose_bias_has_the_name_of_positions_has_no_table() -> None:
    torch.manual_seed(0)
    beit: Any = transformers.BeitModel(config_of("beit", zoo.PATCHES | {"use_relative_position_bias": True})).eval()
    with torch.no_grad():
        for name, parameter in beit.named_parameters():
            if "relative_position_bias_table" in name or parameter.dim() > 1:
                parameter.normal_(std=0.25)
    pixels = torch.rand(1, 3, 24, 24)
    # Of as many rows as there are patches, but nothing is added to them.
    beit.other = torch.nn.Parameter(torch.rand(10, 32))
    assert explore(beit, Probe(pixels=pixels))[1].positions == "unknown"
    vit: Any = zoo.tiny("vit")
    assert explore(vit, Probe(pixels=pixels))[1].positions == "learned"
    vit.embeddings.place = torch.nn.Parameter(vit.embeddings.position_embeddings.data)
    name = type(vit.embeddings).__name__
    del vit.embeddings.position_embeddings
    place = {"position_embeddings": property(lambda self: self.place)}
    vit.embeddings.__class__ = type(name, (type(vit.embeddings),), place)
    assert explore(vit, Probe(pixels=pixels))[1].positions == "learned"


def test_layers_that_do_not_attend_are_named_and_the_others_are_exact(tmp_path: Path) -> None:
    reader = open_reader(jamba(tmp_path / "jamba"))
    assert isinstance(reader, TextWriter)
    assert reader.abilities.heads == {"decoder.self": (4, 4)}
    assert reader.abilities.proof is not None
    assert reader.abilities.proof.is_exact
    rows = dict(describe(reader).rows)
    assert rows["Layers that attend"].startswith("2, 4 of 4; the others (JambaMambaMixer)")
    with pytest.raises(TraceError, match="layers without attention between"):
        follow_in_library(reader, reader.trace(TEXT), "decoder", 3)
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


def test_an_encoder_out_of_an_encoder_decoder_opens(tmp_path: Path) -> None:
    config = config_of("t5", zoo.CONFIGS["t5"])
    reader = open_reader(save(tmp_path / "t5", transformers.T5EncoderModel, config))
    assert (reader.abilities.kind, reader.abilities.sites) == ("encoder", ("encoder.self",))


@pytest.mark.parametrize("made", [transformers.Gemma3TextModel, transformers.Gemma3ForCausalLM])
def test_a_decoder_that_looks_both_ways_is_offered_nothing_it_was_not_trained_for(tmp_path: Path, made: Any) -> None:
    config = config_of("gemma3_text", zoo.CONFIGS["gemma3_text"] | {"use_bidirectional_attention": True})
    reader = open_reader(save(tmp_path / "embedder", made, config))
    abilities = reader.abilities
    assert (abilities.kind, abilities.generates) == ("encoder", False)
    assert {"decoding", "beam", "logit lens", "word choice", "circuits"} <= set(abilities.lacks)
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


def test_a_classifier_opens_with_its_labels(tmp_path: Path) -> None:
    config = config_of("bert", zoo.CONFIGS["bert"] | {"id2label": {0: "good", 1: "bad", 2: "neither"}})
    made = transformers.BertForSequenceClassification
    reader = open_reader(save(tmp_path / "classifier", made, config, "wordpiece"))
    assert isinstance(getattr(reader, "model"), made)  # noqa: B009
    assert dict(describe(reader).rows)["Labels"] == "good, bad, neither"


def test_what_differs_from_the_library_is_never_called_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = capture.Call.of_sentence

    def rescaled(call: capture.Call, sentence: int, device: torch.device) -> Any:
        return recorded(replace(call, scale=call.scale * 1.1), sentence, device)

    monkeypatch.setattr(capture.Call, "of_sentence", rescaled)
    layout, abilities = explore(zoo.tiny("llama"))
    assert abilities.proof is not None
    assert "differ from those of transformers" in abilities.proof.verdict
    assert not abilities.knows_inputs
    assert not layout.heads


def test_attention_that_changes_with_the_length_of_a_text_is_refused() -> None:
    settings = zoo.TWO_STACKS | {"attention_type": "block_sparse", "block_size": 4}
    config = config_of("bigbird_pegasus", settings)
    with pytest.raises(CheckpointError, match="differently in short texts"):
        explore(transformers.BigBirdPegasusForConditionalGeneration(config).eval())


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    folder = zoo.save_model(tmp_path / "bert", "bert")
    tensors = load_file(folder / "model.safetensors")
    tensors["encoder.layer.0.output.dense.weight"][0, 0] = float("nan")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    refused(folder, "not numbers")


@pytest.mark.parametrize(
    ("weights", "is_causal", "wrong"),
    [
        (torch.tensor([[[[1.0, 0, 0], [0.25, 0.75, 0]]]]), True, ""),
        (torch.tensor([[[[1.0, 0, 0], [0.25, 0.5, 0.25]]]]), False, ""),
        (torch.tensor([[[[1.0, 0, 0], [0.25, 0.5, 0.25]]]]), True, "its decoder attends to later tokens"),
        (torch.tensor([[[[1.0, 0, 0], [0.25, 0.7, 0]]]]), False, "the weights of a row do not sum to 1"),
        (torch.tensor([[[[1.0, 0, 0], [1.25, -0.25, 0]]]]), False, "some weights are negative or not numbers"),
        (torch.tensor([[[[1.0, 0, 0], [torch.nan, 0, 0]]]]), False, "some weights are negative or not numbers"),
        (
            torch.eye(3)[None, None],
            False,
            "it has the shape 1 × 1 × 3 × 3, not one weight of each head for 2 queries and 3 keys",
        ),
    ],
)
def test_what_is_wrong_with_weights_is_said(weights: torch.Tensor, is_causal: bool, wrong: str) -> None:
    assert str(proof._wrong_with(weights, (2, 3), is_causal=is_causal)) == wrong


def test_weights_are_of_one_sentence_and_of_every_query_over_every_key() -> None:
    assert proof._is_shaped(torch.ones(1, 4, 2, 3), (2, 3))
    for shape in ((2, 4, 2, 3), (4, 2, 3), (1, 4, 3, 2)):
        assert not proof._is_shaped(torch.ones(shape), (2, 3))
    looks_ahead = torch.eye(3).roll(1, 1)[None, None]
    looks_ahead[0, 0, 2] = 1 / 3
    for weights, kind in ((looks_ahead, "encoder"), (torch.ones(1, 1, 3, 3).tril() / 3, "decoder")):
        output = SimpleNamespace(attentions=(weights,))
        assert proof._kind_and_weights(output, Probe((1, 2, 3)), "A")[0] == kind
    both_ways = {"encoder.self": (torch.full((1, 4, 3, 3), 1 / 3),)}
    proof._check_weights(both_ways, {(3, 3): "encoder.self"}, "encoder", "no")
    with pytest.raises(CheckpointError, match="later tokens"):
        proof._check_weights({"decoder.self": both_ways["encoder.self"]}, {(3, 3): "decoder.self"}, "decoder", "no")


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        ([0.5, torch.inf], [0.6, torch.inf], 0.1),
        ([-10.0, 2.0], [-10.0, 3.0], 0.1),
        ([1.0, 2.0], [1.0, 2.0, 3.0], torch.inf),
        ([torch.inf], [1.0], 0.0),
        ([1.0, torch.nan], [1.0, 2.0], torch.inf),
        ([1.0, 2.0], [1.0, torch.nan], torch.inf),
    ],
)
def test_outputs_are_apart_by_the_scale_of_the_first(first: list[float], second: list[float], apart: float) -> None:
    assert proof._apart(torch.tensor(first), torch.tensor(second)) == pytest.approx(apart)


def differing(of_weights: float = 0.0, of_outputs: float = 0.0, size: float = 1.0) -> float:
    """What is found of two layers the first of which differs by so much; what heads write is of this size."""
    query, key, value = torch.randn(3, 2, 5, 4, generator=torch.Generator().manual_seed(0))
    value *= size / value.abs().max()
    mask = AttentionMask(num_queries=5, num_keys=5)
    inputs = AttentionInputs(query=query, key=key, value=value, mask=mask, scale=0.5)
    real, weights = inputs.head_output(), inputs.weights()[None]
    off = real.clone()
    off[0, 1, 1] -= of_outputs
    other = weights.clone()
    other[0, 1, 3, 2] += of_weights
    outputs = {"encoder.layers.0.self_attention.hook_head_output": off}
    outputs["encoder.layers.1.self_attention.hook_head_output"] = real
    return proof._largest_difference(
        NOWHERE, {"encoder.self": (inputs,) * 2}, outputs, {"encoder.self": (other, weights)}
    )


def test_the_largest_difference_is_that_of_weights_or_by_their_scale_of_outputs() -> None:
    assert differing() < 1e-6
    assert differing(of_weights=0.5, of_outputs=0.1) == pytest.approx(0.5, abs=1e-5)
    assert differing(of_weights=-0.1, of_outputs=0.5) == pytest.approx(0.5, abs=1e-5)
    assert differing(of_outputs=5e-4, size=1e-3) == pytest.approx(5e-4, abs=1e-6)
    assert differing(of_outputs=1e5) == pytest.approx(1.0, rel=1e-3)
    for nothing in ({"of_weights": torch.nan}, {"of_outputs": torch.nan}):
        assert differing(**nothing) == torch.inf


def test_a_model_whose_output_alone_differs_is_never_called_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = iter((0.5, 0.0, 0.0))
    monkeypatch.setattr(proof, "_apart", lambda first, second: next(apart))
    found = explore(zoo.tiny("llama"))[1].proof
    assert found is not None
    assert "differ from those of transformers by 5.0e-01" in found.verdict


@pytest.mark.parametrize(
    ("change", "is_believed"),
    [
        ({}, True),
        ({"heads": {"decoder.self": []}}, False),
        ({"difference": 0.999}, True),
        ({"difference": 1.0}, False),
        ({"difference": -0.1}, False),
        ({"tokens": 0}, False),
        ({"tokens": True}, False),
        ({"table": 1}, True),
        ({"table": 2_147_483_649}, False),
    ],
)
def test_a_verdict_holds_only_values_that_a_proof_could_have_found(change: dict[str, Any], is_believed: bool) -> None:
    content = {"key": ["a"], "kind": "decoder", "heads": {"decoder.self": [1]}, "difference": 0.0, "tokens": 1}
    content |= {"positions": "none", "table": None, "lengths": [[1, 1, "decoder.self"]], "caches": True} | change
    if is_believed:
        found, _ = proof._found(content)
        assert (found.heads, found.proof.heads, found.lengths) == ({"decoder.self": (1,)}, 1, {(1, 1): "decoder.self"})
        return
    with pytest.raises(ValueError, match=r".*"):
        proof._found(content)


def test_only_so_many_models_are_remembered_and_none_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_folder, "MAX_REMEMBERED", 2)
    known: dict[tuple[str, ...], int] = {}
    for number, name in enumerate("abc"):
        open_folder._remember(known, (name, "cpu"), number)
    assert known == {("b", "cpu"): 1, ("c", "cpu"): 2}
    assert open_folder._remember({}, ("", "cpu"), 3) == 3
    none: dict[tuple[str, ...], int] = {}
    open_folder._remember(none, ("", "cpu"), 3)
    assert none == {}


@pytest.mark.parametrize(("table", "stated", "most"), [(None, 0, None), (None, 1, 1), (90, 96, 90), (None, -1, None)])
def test_a_length_that_is_no_number_of_tokens_limits_nothing(table: int | None, stated: int, most: int | None) -> None:
    config = SimpleNamespace(get_text_config=lambda: SimpleNamespace(max_position_embeddings=stated))
    found: Any = SimpleNamespace(table=table, positions="learned")
    assert open_folder._max_length(found, config) == most


def test_a_model_that_gives_different_results_is_refused() -> None:
    model: Any = zoo.tiny("bert")
    model.embeddings.register_forward_hook(lambda module, given, output: output + torch.rand(()))
    with pytest.raises(CheckpointError, match="different results when it reads the same text twice"):
        explore(model)


def test_the_same_content_is_proven_once(folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_reader(folder("t5"))
    monkeypatch.setattr(open_folder, "explore_model", lambda *_: pytest.fail("proven again"))
    monkeypatch.setattr(open_folder, "wrong_with_writing", lambda *_: pytest.fail("proven again"))
    again = open_reader(folder("t5"))
    assert again.abilities == first.abilities
    assert torch.equal(
        again.trace(TEXT, TEXT).weights("decoder.cross", 1), first.trace(TEXT, TEXT).weights("decoder.cross", 1)
    )


def test_a_model_of_few_positions_is_proven_on_fewer_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def noted(writer: TextReader, source: list[int]) -> str:
        lengths.append(len(source))
        return wrong_with_writing(writer, source)

    monkeypatch.setattr(open_folder, "wrong_with_writing", noted)
    config = config_of("gpt2", zoo.CONFIGS["gpt2"] | {"n_positions": 12})
    reader = open_reader(save(tmp_path / "short", transformers.GPT2LMHeadModel, config, "bytes"))
    assert (reader.abilities.max_length, reader.abilities.generates) == (12, True)
    # Six more are written.
    assert lengths == [6]


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which models were proven; nothing is known of any before."""
    done: list[str] = []
    prove, write = explore_model, open_folder._how_it_writes

    def noted(what: str, act: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            done.append(what)
            return act(*given)

        return run

    monkeypatch.setattr(open_folder, "_PROVEN", {})
    monkeypatch.setattr(open_folder, "_WRITES", {})
    monkeypatch.setattr(open_folder, "explore_model", noted("attends", prove))
    monkeypatch.setattr(open_folder, "_how_it_writes", noted("writes", write))
    return done


def _opened(folder: Path, cache: Path | None) -> Abilities:
    """As another process opens it."""
    open_folder._PROVEN.clear()
    open_folder._WRITES.clear()
    return open_reader(folder, "cpu", cache=cache).abilities


def test_another_process_does_not_prove_again(tmp_path: Path, proofs: list[str]) -> None:
    folder, cache = zoo.save_model(tmp_path / "gpt2", "gpt2", "bytes"), tmp_path / "cache"
    first = _opened(folder, cache)
    assert proofs == ["attends", "writes"]
    assert _opened(folder, cache) == first
    assert proofs == ["attends", "writes"]
    # `headlight verify` asks for no verdict that is kept, and other weights have another.
    _opened(folder, None)
    assert proofs == ["attends", "writes"] * 2
    zoo.tiny("gpt2", seed=1).save_pretrained(folder)
    _opened(folder, cache)
    assert proofs == ["attends", "writes"] * 3


def noted(root: Path, note: str) -> Path:
    """A folder with the same model whose content differs from others of it by a note."""
    folder = zoo.save_model(root / note, "gpt2", "bytes")
    (folder / "note.txt").write_text(note, encoding="utf-8")
    return folder


def _damaged(verdict: Path) -> None:
    os.truncate(verdict, verdict.stat().st_size - 9)


def _changed(verdict: Path) -> None:
    kept = json.loads(verdict.read_text(encoding="utf-8"))
    kept["content"]["difference"] = 0.5
    verdict.write_text(json.dumps(kept), encoding="utf-8")


def _sealed_elsewhere(verdict: Path) -> None:
    """As whoever knows this code would make it, without the key of this cache."""
    cache, other = verdict.parents[1], verdict.parents[2] / "other"
    kept = json.loads(verdict.read_text(encoding="utf-8"))["content"] | {"difference": 0.5}
    write_sealed(other, other / verdict.relative_to(cache), kept)
    shutil.copy(other / verdict.relative_to(cache), verdict)


def _sealed_by_a_key_for_all(verdict: Path) -> None:
    """With the key, which others may have read."""
    cache = verdict.parents[1]
    kept = json.loads(verdict.read_text(encoding="utf-8"))["content"] | {"difference": 0.5}
    write_sealed(cache, verdict, kept)
    (cache / "key").chmod(0o644)


def _of_another_content(verdict: Path) -> None:
    """A verdict that is sealed, of other weights."""
    before = list(verdict.parent.iterdir())
    open_reader(noted(verdict.parents[2], "another"), "cpu", cache=verdict.parents[1])
    (new,) = (file for file in verdict.parent.iterdir() if file not in before)
    new.replace(verdict)


def _of_a_strange_kind(verdict: Path) -> None:
    kept = json.loads(verdict.read_text(encoding="utf-8"))["content"] | {"positions": "<script>"}
    write_sealed(verdict.parents[1], verdict, kept)


def _of_other_heads(verdict: Path) -> None:
    kept = json.loads(verdict.read_text(encoding="utf-8"))["content"] | {"heads": {"decoder.self": [4, 3]}}
    write_sealed(verdict.parents[1], verdict, kept)


DAMAGES = (
    _damaged, _changed, _sealed_elsewhere, _sealed_by_a_key_for_all, _of_another_content, _of_a_strange_kind,
    _of_other_heads,
)  # fmt: skip


@pytest.fixture(scope="module")
def opened_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and a cache for each damage, which another process has opened."""
    root = tmp_path_factory.mktemp("opened")
    for number in range(len(DAMAGES) + 1):
        # Each is a content of its own, of which this process knows nothing.
        noted(root / f"{number}", f"note {number}").rename(root / f"{number}" / "gpt2")
    code = (
        f"from pathlib import Path; from model.opening import open_reader\nfor folder in Path({str(root)!r}).iterdir():"
        "  open_reader(folder / 'gpt2', 'cpu', cache=folder / 'cache')"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=300)
    return root


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(DAMAGES)), ids=lambda number: DAMAGES[number].__name__)
def test_a_verdict_that_cannot_be_believed_is_proven_anew(opened_before: Path, number: int) -> None:
    home = opened_before / f"{number}"
    (verdict,) = (home / "cache" / "verdicts").iterdir()
    DAMAGES[number](verdict)
    wrong = verdict.read_bytes()
    found = open_reader(home / "gpt2", "cpu", cache=home / "cache").abilities
    assert found.proof is not None
    assert found.proof.difference < 1e-4
    assert (found.heads, found.positions) == ({"decoder.self": (4, 4)}, "learned")
    assert verdict.read_bytes() != wrong


@pytest.mark.long
def test_a_verdict_of_another_process_is_believed_and_its_key_is_for_its_owner_alone(opened_before: Path) -> None:
    home = opened_before / f"{len(DAMAGES)}"
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


def test_few_files_are_kept(tmp_path: Path, proofs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "MOST_FILES", 2)
    for seed in range(4):
        zoo.tiny("gpt2", seed=seed).save_pretrained(tmp_path / "gpt2")
        zoo.save_tokenizer(tmp_path / "gpt2", "bytes")
        _opened(tmp_path / "gpt2", tmp_path / "cache")
    assert len(list((tmp_path / "cache" / "verdicts").iterdir())) == 2


def test_a_folder_that_cannot_be_written_to_costs_only_time(tmp_path: Path, proofs: list[str]) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    folder = zoo.save_model(tmp_path / "gpt2", "gpt2", "bytes")
    assert _opened(folder, tmp_path / "cache").proof == _opened(folder, None).proof
