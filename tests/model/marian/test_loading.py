"""MarianMT weights in our Transformer say what they say in transformers; every file of a folder may be hostile."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import MarianMTModel
from transformers.models.marian.tokenization_marian import MarianTokenizer as TheirTokenizer

from model import SwitchOff, Translator, step_cost
from model.analysis.interventions.edit_comparison import compare_edit
from model.analysis.metrics.derived_row import derive_row
from model.decoding.beam import BeamRule, SentenceBeam, Stop
from model.decoding.prefix_batch import PrefixBatch
from model.decoding.search import run_searches
from model.errors import CheckpointError, InputTextError
from model.marian.loading import is_marian
from model.nn.masks import key_padding
from model.nn.parameter_counts import count_parameters
from model.nn.positional import sinusoidal_encoding
from model.opening import open_reader
from model.trace.file import load_trace, save_trace
from tests.model.marian.marian_folders import TEXTS, changed, write_marian

VARIANTS: dict[str, dict[str, Any]] = {
    "swish": {},
    "gelu": {"activation_function": "gelu", "scale_embedding": False},
    "small": {"activation_function": "relu", "encoder_layers": 3, "decoder_layers": 1},
    "separate": {"share_encoder_decoder_embeddings": False, "max_shard_size": "30KB"},
}
pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")


class Pair:
    """A folder, transformers' model and tokenizer of it, and ours."""

    def __init__(self, folder: Path, theirs: MarianMTModel) -> None:
        self.folder, self.theirs = folder, theirs
        self.their_tokenizer = TheirTokenizer.from_pretrained(folder)
        self.ours = Translator.load(folder, device="cpu")

    def batch(self) -> tuple[torch.Tensor, torch.Tensor]:
        ids = self.their_tokenizer(TEXTS, return_tensors="pt", padding=True).input_ids
        return ids, key_padding(ids, self.ours.config.pad_id)


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    root = tmp_path_factory.mktemp("marian")
    return {name: Pair(root / name, write_marian(root / name, **settings)) for name, settings in VARIANTS.items()}


@pytest.fixture(params=VARIANTS)
def pair(request: pytest.FixtureRequest, pairs: dict[str, Pair]) -> Pair:
    return pairs[request.param]


def real(logits: torch.Tensor, pair: Pair) -> torch.Tensor:
    """All but the column of <pad>, which ours never writes."""
    return logits[..., torch.arange(logits.size(-1)) != pair.ours.config.pad_id]


# ---- the same numbers ----


@torch.inference_mode()
def test_logits_equal_those_of_transformers_with_padding(pair: Pair) -> None:
    source, padding = pair.batch()
    config = pair.ours.config
    target = torch.randint(1, config.pad_id, (3, 9), generator=torch.Generator().manual_seed(1))
    target[:, 0] = config.bos_id
    expected = pair.theirs(input_ids=source, attention_mask=padding.long(), decoder_input_ids=target).logits
    found = pair.ours.model(source, target, padding)
    torch.testing.assert_close(real(found, pair), real(expected, pair), atol=1e-4, rtol=0)
    assert found[..., config.pad_id].isneginf().all()


@torch.inference_mode()
def test_every_step_with_the_cache_says_what_transformers_says(pair: Pair) -> None:
    session = pair.ours.decode(TEXTS[0])
    session.run()
    source = pair.their_tokenizer(TEXTS[0], return_tensors="pt").input_ids
    logits = pair.theirs(input_ids=source, decoder_input_ids=torch.tensor([session.target_ids[:-1]])).logits[0]
    logits[:, pair.ours.config.pad_id] = -torch.inf
    expected = logits.log_softmax(-1)
    for row, step in enumerate(session.steps):
        for candidate in step.candidates:
            assert candidate.log_prob == pytest.approx(expected[row, candidate.token_id].item(), abs=1e-4)


def test_weights_and_layer_outputs_equal_those_of_eager_attention(pair: Pair) -> None:
    trace = pair.ours.trace(TEXTS[2])
    pair.theirs.set_attn_implementation("eager")
    source, target = torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids])
    with torch.inference_mode():
        out = pair.theirs(input_ids=source, decoder_input_ids=target, output_attentions=True, output_hidden_states=True)
    sites = {"encoder.self": "encoder", "decoder.self": "decoder", "decoder.cross": "cross"}
    for site, name in sites.items():
        expected = getattr(out, f"{name}_attentions")
        assert len(trace.inputs[site]) == len(expected) == pair.ours.config.layers_of(site)
        for layer, weights in enumerate(expected):
            torch.testing.assert_close(trace.weights(site, layer), weights[0], atol=1e-5, rtol=0)
    hidden = out.decoder_hidden_states[-1][0]
    last = trace.recorded[f"decoder.layers.{pair.ours.config.decoder_layers - 1}.hook_output"]
    torch.testing.assert_close(last, hidden, atol=1e-4, rtol=0)


# ---- the same translations ----


def generate(pair: Pair, text: str, **options: Any) -> Any:
    """What `generate` returns in as many tokens as ours may write: <pad> first, the forced </s> last."""
    source = pair.their_tokenizer(text, return_tensors="pt").input_ids
    model: Any = pair.theirs
    return model.generate(source, max_length=source.size(1) - 1 + 50 + 2, **options)


def written(ids: torch.Tensor, pair: Pair) -> list[int]:
    """The tokens without <pad> and </s>."""
    return [one for one in ids.tolist() if one not in (pair.ours.config.pad_id, pair.ours.config.eos_id)]


@pytest.mark.parametrize("text", TEXTS)
def test_greedy_translations_equal_generate(pair: Pair, text: str) -> None:
    expected = written(generate(pair, text)[0], pair)
    session = pair.ours.decode(text)
    session.run()
    assert [one for one in session.target_ids[1:] if one != pair.ours.config.eos_id] == expected
    assert session.translation == pair.ours.translate(text)
    known = [one for one in expected if one != pair.ours.config.unk_id]  # theirs shows nothing for <unk>, ours ⁇
    assert pair.ours.tokenizer.decode(known) == pair.their_tokenizer.decode(expected, skip_special_tokens=True)


@pytest.mark.parametrize("text", TEXTS[:2])
@pytest.mark.parametrize(("early_stopping", "alpha"), [(False, 1.0), (True, 1.0), ("never", 0.6), (False, 0.0)])
def test_beam_search_by_the_rule_of_transformers_equals_generate(
    pairs: dict[str, Pair], text: str, early_stopping: bool | str, alpha: float
) -> None:
    pair = pairs["swish"]
    found = generate(
        pair, text, num_beams=4, num_return_sequences=4, early_stopping=early_stopping, length_penalty=alpha,
        return_dict_in_generate=True, output_scores=True, forced_eos_token_id=None,
    )  # fmt: skip
    stops: dict[bool | str, Stop] = {False: "unlikely", True: "full", "never": "unbeatable"}
    source = torch.tensor([pair.ours.source_ids(text)])
    limit = source.size(1) + 50  # as many tokens as `generate` writes above: </s> may be the last of them
    begun = SentenceBeam(limit, 4, alpha, rule=BeamRule("power", stops[early_stopping]))
    with torch.inference_mode():
        batch = PrefixBatch(pair.ours.model, source, None)
    (search,) = run_searches([begun], batch, torch.tensor([pair.ours.config.bos_id]), (pair.ours.config.eos_id,))
    assert [one.token_ids for one in search.finished] == [written(one, pair) for one in found.sequences]
    scores = [search.score(one) for one in search.finished]
    assert scores == pytest.approx(found.sequences_scores.tolist(), abs=1e-4)


@pytest.mark.parametrize("text", TEXTS[:2])
def test_our_own_beam_search_equals_generate_where_length_counts_for_nothing(pair: Pair, text: str) -> None:
    # α = 0 is the definition that both share: whole log-probabilities, over when none can get better.
    expected = generate(pair, text, num_beams=4, num_return_sequences=4, length_penalty=0.0, early_stopping="never")
    tree = pair.ours.beam_tree(text, beam=4, alpha=0.0)
    eos = pair.ours.config.eos_id
    found = [[one for one in tree.token_ids(node) if one != eos] for node in tree.hypotheses]
    assert found == [written(one, pair) for one in expected]


# ---- what the pages ask of a model ----


def test_masks_edits_lens_cost_positions_and_origin_work(pair: Pair, tmp_path: Path) -> None:
    ours, config = pair.ours, pair.ours.config
    masks = ours.masks(TEXTS[:2])
    assert masks.target_padding[:, :, 0].all()
    assert masks.target_tokens[0][0] == "<pad>"
    trace = ours.trace(TEXTS[2], extras={"hook_head_output"})
    assert max(trace.head_output_deviation("decoder.cross", i) for i in range(config.decoder_layers)) < 1e-5
    lens = ours.logit_lens(trace)
    assert len(lens.token_ids) == config.decoder_layers + 1
    assert bool(lens.entropy.isfinite().all())
    torch.testing.assert_close(lens.token_ids[-1, :, 0], torch.tensor(trace.predicted_ids))
    row = derive_row(trace.attention("decoder.cross", 0), 1, 0, scaled=True, masked=True)
    torch.testing.assert_close(row.weights, trace.weights("decoder.cross", 0, [1], [0])[0, 0])
    table = sinusoidal_encoding(len(trace.source_tokens), config.d_model, layout="halves")
    assert torch.equal(trace.positional["source"], table)
    assert step_cost(config, 5, 3).reused_numbers == config.decoder_layers * 2 * config.d_model * 8
    assert count_parameters(config).total == sum(one.numel() for one in ours.model.parameters())
    comparison = compare_edit(ours, TEXTS[2], 1, [SwitchOff("decoder.cross", config.decoder_layers - 1, 0)])
    assert comparison.original_text == trace.translation
    save_trace(trace, tmp_path / "trace.npz")
    assert load_trace(tmp_path / "trace.npz").source_tokens == trace.source_tokens


def test_the_positions_are_those_of_transformers(pairs: dict[str, Pair]) -> None:
    theirs = pairs["swish"].theirs.model.encoder.embed_positions.weight
    torch.testing.assert_close(sinusoidal_encoding(128, 32, layout="halves"), theirs, atol=1e-6, rtol=0)


# ---- text ----


@pytest.mark.parametrize("text", [*TEXTS, ">>deu<< The dog.", ">>xyz<< The dog.", "  two   spaces ", "Tom 😀 עברית"])
def test_token_ids_and_texts_equal_those_of_transformers(pairs: dict[str, Pair], text: str) -> None:
    ours, theirs = pairs["swish"].ours.tokenizer, pairs["swish"].their_tokenizer
    ids = theirs(text).input_ids
    assert [*ours.encode(text), ours.token_id("</s>")] == ids
    assert list(ours.tokens(ids)) == theirs.convert_ids_to_tokens(ids)
    target = theirs(text_target="Das Tier, zu müde").input_ids
    assert [*ours.encode_target("Das Tier, zu müde"), 0] == target
    assert ours.decode(target) == theirs.decode(target, skip_special_tokens=True)


def test_special_tokens_in_a_text_are_ordinary_characters(pairs: dict[str, Pair]) -> None:
    ours = pairs["swish"].ours
    assert ours.config.eos_id not in ours.tokenizer.encode("a </s> <pad> b")


def test_offsets_name_the_characters_behind_each_token(pairs: dict[str, Pair]) -> None:
    tokenizer = pairs["swish"].ours.tokenizer
    text = ">>deu<< The  dog 中"
    spans = [text[begin:end] for begin, end in tokenizer.offsets(text)]
    tokens = tokenizer.tokens(tokenizer.encode(text))
    assert tokens[0] == spans[0] == ">>deu<<"
    assert spans[-1] == "中"
    assert all(token.strip("▁") in (span, "", "<unk>") for token, span in zip(tokens, spans, strict=True))


def test_an_empty_or_overlong_text_is_refused(pairs: dict[str, Pair]) -> None:
    for text in ("", " \n", "The dog " * 100):
        with pytest.raises(InputTextError):
            pairs["swish"].ours.translate(text)


# ---- folders that are not what they should be ----


def test_only_a_marian_folder_is_taken_for_one(pairs: dict[str, Pair], tmp_path: Path) -> None:
    assert is_marian(pairs["swish"].folder)
    assert not is_marian(tmp_path)
    assert not is_marian(Path("checkpoints/en-de"))
    assert not is_marian(changed(pairs["swish"].folder, tmp_path / "bert", "config.json", model_type="bert"))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"d_model": 10**9}, "d_model must lie between"),
        ({"d_model": "32"}, "d_model must be a whole number"),
        ({"encoder_layers": 3}, "lacks|does not fit|should have|tensors differ"),
        ({"encoder_layers": 1}, "which the model that config.json describes does not have"),
        ({"encoder_ffn_dim": 32}, "must be the same"),
        ({"decoder_attention_heads": 2}, "must be the same"),
        ({"encoder_ffn_dim": 32, "decoder_ffn_dim": 32}, "should have the shape"),
        ({"activation_function": "tanh"}, "one of relu"),
        ({"activation_function": ["relu"]}, "one of relu"),
        ({"decoder_vocab_size": 5}, "one vocabulary"),
        ({"decoder_start_token_id": 0}, "must begin with the padding"),
        ({"vocab_size": 20, "decoder_vocab_size": 20}, "do not belong together|below 20"),
        ({"eos_token_id": 5}, "do not belong together"),
        ({"scale_embedding": 1}, "true or false"),
        ({"share_encoder_decoder_embeddings": False}, "does not fit|does not have"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(
    pairs: dict[str, Pair], tmp_path: Path, values: dict[str, Any], words: str
) -> None:
    folder = changed(pairs["swish"].folder, tmp_path / "m", "config.json", **values)
    with pytest.raises(CheckpointError, match=words):
        Translator.load(folder, device="cpu")


@pytest.mark.parametrize("name", ["source.spm", "vocab.json", "model.safetensors"])
@pytest.mark.parametrize("content", [None, b"", b"\x80 no such thing"])
def test_a_missing_or_damaged_file_is_named(
    pairs: dict[str, Pair], tmp_path: Path, name: str, content: bytes | None
) -> None:
    folder = changed(pairs["swish"].folder, tmp_path / "m", "config.json")
    (folder / name).unlink() if content is None else (folder / name).write_bytes(content)
    with pytest.raises(CheckpointError, match=name):
        Translator.load(folder, device="cpu")


def test_a_link_out_of_the_folder_is_refused(pairs: dict[str, Pair], tmp_path: Path) -> None:
    folder = changed(pairs["swish"].folder, tmp_path / "m", "config.json")
    (folder / "vocab.json").rename(tmp_path / "elsewhere.json")
    os.symlink(tmp_path / "elsewhere.json", folder / "vocab.json")
    with pytest.raises(CheckpointError, match="link out of its folder"):
        Translator.load(folder, device="cpu")


def test_the_cache_of_the_hub_may_link_to_its_own_blobs(pairs: dict[str, Pair], tmp_path: Path) -> None:
    snapshot, blobs = tmp_path / "models--x--y" / "snapshots" / "0123", tmp_path / "models--x--y" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, file in enumerate(pairs["swish"].folder.iterdir()):
        shutil.copy(file, blobs / str(number))
        (snapshot / file.name).symlink_to(Path("../../blobs") / str(number))
    found = open_reader(snapshot, device="cpu")
    assert isinstance(found, Translator)
    assert found.digest == pairs["swish"].ours.digest
    (snapshot / "vocab.json").unlink()
    (snapshot / "vocab.json").symlink_to(pairs["swish"].folder / "vocab.json")
    with pytest.raises(CheckpointError, match="link out of its folder"):
        open_reader(snapshot, device="cpu")


def test_two_vocabularies_are_refused(pairs: dict[str, Pair], tmp_path: Path) -> None:
    folder = changed(pairs["separate"].folder, tmp_path / "m", "tokenizer_config.json", separate_vocabs=True)
    with pytest.raises(CheckpointError, match=r"another for the target.*one for both"):
        open_reader(folder, device="cpu")
    folder = changed(pairs["separate"].folder, tmp_path / "n", "tokenizer_config.json", separate_vocabs=False)
    assert isinstance(open_reader(folder, device="cpu"), Translator)
    (folder / "target_vocab.json").write_text((folder / "vocab.json").read_text())
    with pytest.raises(CheckpointError, match=r"another for the target.*one for both"):
        open_reader(folder, device="cpu")


@pytest.mark.parametrize("file", ["../../etc/passwd", "/etc/passwd", "weights.bin", "missing.safetensors", 7])
def test_shards_lie_in_the_folder(pairs: dict[str, Pair], tmp_path: Path, file: object) -> None:
    folder = changed(pairs["separate"].folder, tmp_path / "m", "config.json")
    index = folder / "model.safetensors.index.json"
    content = json.loads(index.read_text())
    content["weight_map"][next(iter(content["weight_map"]))] = file
    index.write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match=r"weight_map|lacks missing|a file of"):
        Translator.load(folder, device="cpu")


def test_pickled_weights_are_refused_with_the_way_out(pairs: dict[str, Pair], tmp_path: Path) -> None:
    folder = changed(pairs["swish"].folder, tmp_path / "m", "config.json")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(CheckpointError, match="save_pretrained"):
        Translator.load(folder, device="cpu")


def test_a_copy_of_a_shared_matrix_must_be_one(pairs: dict[str, Pair], tmp_path: Path) -> None:
    folder = changed(pairs["swish"].folder, tmp_path / "m", "config.json")
    weights = load_file(folder / "model.safetensors")
    shared = weights["model.shared.weight"]
    table = pairs["swish"].theirs.model.encoder.embed_positions.weight
    extra = {"model.encoder.embed_positions.weight": table.detach().clone(), "lm_head.weight": shared.clone()}
    save_file({**weights, **extra}, folder / "model.safetensors")
    assert Translator.load(folder, device="cpu").translate(TEXTS[1]) == pairs["swish"].ours.translate(TEXTS[1])
    save_file({**weights, "lm_head.weight": shared + 1}, folder / "model.safetensors")
    with pytest.raises(CheckpointError, match="it differs"):
        Translator.load(folder, device="cpu")


def test_numbers_that_are_none_are_refused(pairs: dict[str, Pair], tmp_path: Path) -> None:
    folder = changed(pairs["swish"].folder, tmp_path / "m", "config.json")
    weights = load_file(folder / "model.safetensors")
    weights["final_logits_bias"][0, 4] = torch.nan
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(CheckpointError, match="no finite numbers"):
        Translator.load(folder, device="cpu")


def test_the_digest_names_the_content(pairs: dict[str, Pair], tmp_path: Path) -> None:
    folder = changed(pairs["swish"].folder, tmp_path / "m", "config.json", dropout=0.2)
    assert Translator.load(folder, device="cpu").digest != pairs["swish"].ours.digest
    assert Translator.load(pairs["swish"].folder, device="cpu").digest == pairs["swish"].ours.digest
