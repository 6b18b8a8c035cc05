"""A Marian folder: what is taken for one, what is refused in a sentence, and its pieces are those of transformers."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers.models.marian.tokenization_marian import MarianTokenizer as TheirTokenizer

from model import Translator
from model.adapters.inspect_folder import folder_with_model
from model.errors import CheckpointError, InputTextError
from model.marian.files import is_marian, weight_files
from model.opening import as_writer, open_reader, open_translator
from tests.model.marian.conftest import Pair
from tests.model.marian.marian_folders import TEXTS, changed, write_separate

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")


def test_only_a_marian_folder_is_taken_for_one(pairs: dict[str, Pair], tmp_path: Path) -> None:
    assert is_marian(pairs["swish"].folder)
    assert not is_marian(tmp_path)
    assert not is_marian(Path("checkpoints/en-de"))
    assert not is_marian(changed(pairs["swish"].folder, tmp_path / "bert", "config.json", model_type="bert"))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"d_model": 10**9}, "d_model must be between"),
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


@pytest.mark.parametrize("gone", [["source.spm"], ["source.spm", "target.spm"]])
def test_a_folder_without_its_pieces_says_which_files_are_missing(
    pairs: dict[str, Pair], tmp_path: Path, gone: list[str]
) -> None:
    folder = changed(pairs["swish"].folder, tmp_path / "m", "config.json")
    for name in gone:
        (folder / name).unlink()
    for use in (open_reader, lambda path: folder_with_model(str(path))):
        with pytest.raises(CheckpointError, match=f"m lacks {', '.join(gone)}: MarianMT.*Copy these files"):
            use(folder)


def test_a_link_out_of_the_folder_is_refused(pairs: dict[str, Pair], tmp_path: Path) -> None:
    folder = changed(pairs["swish"].folder, tmp_path / "m", "config.json")
    (folder / "vocab.json").rename(tmp_path / "elsewhere.json")
    os.symlink(tmp_path / "elsewhere.json", folder / "vocab.json")
    with pytest.raises(CheckpointError, match="outside the folder"):
        Translator.load(folder, device="cpu")


def test_a_model_with_two_vocabularies_is_proven_and_writes_what_the_library_writes(tmp_path: Path) -> None:
    theirs: Any = write_separate(tmp_path / "two")
    assert theirs.config.vocab_size != theirs.config.decoder_vocab_size
    opened = as_writer(open_reader(tmp_path / "two", device="cpu"))
    assert opened.abilities.proof is not None
    assert opened.abilities.proof.is_exact
    tokenizer = TheirTokenizer.from_pretrained(tmp_path / "two")
    given = tokenizer(TEXTS[0], return_tensors="pt")
    with torch.inference_mode():
        # The last one is the end that its settings force where the limit is.
        expected = theirs.generate(**given, max_new_tokens=8, do_sample=False, num_beams=1)[0].tolist()[:-1]
    assert len(set(expected)) > 3
    session = opened.decode(TEXTS[0])
    while len(session.target_ids) < len(expected):
        session.step()
    trace = session.trace()
    assert [*trace.target_ids, session.target_ids[-1]] == expected
    # The source is named by its vocabulary, what is written by the other.
    assert "".join(trace.source_tokens[:-1]).replace("▁", " ").strip() == TEXTS[0]
    assert list(trace.target_tokens[1:]) == tokenizer.convert_ids_to_tokens(expected)[1:-1]
    assert opened.vocab_size == theirs.config.decoder_vocab_size
    with pytest.raises(CheckpointError, match="separate vocabularies"):
        Translator.load(tmp_path / "two", device="cpu")


@pytest.mark.parametrize(("count", "is_read"), [(0, False), (1, True), (100, True), (101, False)])
def test_weights_may_come_in_a_hundred_parts(tmp_path: Path, count: int, is_read: bool) -> None:
    names = [f"part-{number:03}.safetensors" for number in range(count)]
    index = {"weight_map": {f"tensor {name}": name for name in names}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    if is_read:
        assert weight_files(tmp_path) == names
        return
    with pytest.raises(CheckpointError, match="1 to 100 safetensors files"):
        weight_files(tmp_path)


@pytest.mark.parametrize("file", ["../../etc/passwd", "/etc/passwd", "weights.bin", "missing.safetensors", 7])
def test_shards_lie_in_the_folder(pairs: dict[str, Pair], tmp_path: Path, file: object) -> None:
    folder = changed(pairs["separate"].folder, tmp_path / "m", "config.json")
    index = folder / "model.safetensors.index.json"
    content = json.loads(index.read_text(encoding="utf-8"))
    content["weight_map"][next(iter(content["weight_map"]))] = file
    index.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"weight_map|lacks missing|a file of"):
        Translator.load(folder, device="cpu")


@pytest.mark.long
def test_weights_that_torch_pickled_are_read_as_plain_tensors(
    pairs: dict[str, Pair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = changed(pairs["swish"].folder, tmp_path / "m", "config.json")
    expected = open_reader(folder, "cpu").trace(TEXTS[0], TEXTS[1]).weights("decoder.cross", 0)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    assert torch.equal(open_reader(folder, "cpu").trace(TEXTS[0], TEXTS[1]).weights("decoder.cross", 0), expected)
    # A path may end in no name.
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    assert torch.equal(open_translator("..", "cpu").trace(TEXTS[0], TEXTS[1]).weights("decoder.cross", 0), expected)


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
    with pytest.raises(CheckpointError, match="not finite"):
        Translator.load(folder, device="cpu")


def test_the_digest_names_the_content(pairs: dict[str, Pair], tmp_path: Path) -> None:
    folder = changed(pairs["swish"].folder, tmp_path / "m", "config.json", dropout=0.2)
    assert Translator.load(folder, device="cpu").digest != pairs["swish"].ours.digest
    assert Translator.load(pairs["swish"].folder, device="cpu").digest == pairs["swish"].ours.digest


@pytest.mark.parametrize("text", [*TEXTS, ">>deu<< The dog.", "  two   spaces ", "Tom 😀 עברית"])
def test_token_ids_and_texts_equal_those_of_transformers(pairs: dict[str, Pair], text: str) -> None:
    ours, theirs = pairs["swish"].ours.tokenizer, pairs["swish"].their_tokenizer
    ids = theirs(text).input_ids
    assert [*ours.encode(text), ours.token_id("</s>")] == ids
    assert list(ours.tokens(ids)) == theirs.convert_ids_to_tokens(ids)
    target = theirs(text_target="Das Tier, zu müde").input_ids
    assert [*ours.encode_target("Das Tier, zu müde"), 0] == target
    assert ours.decode(target) == theirs.decode(target, skip_special_tokens=True)


def test_the_chosen_target_comes_in_front_of_every_text_that_names_none(pairs: dict[str, Pair]) -> None:
    ours = pairs["swish"].ours
    assert ours.offered.writes == ("deu", "nld")
    dutch = ours.speaking(writes="nld")
    assert dutch.source_ids("The dog.") == ours.source_ids(">>nld<<The dog.") != ours.source_ids("The dog.")
    assert dutch.source_ids(">>deu<<The dog.") == ours.source_ids(">>deu<<The dog.")
    assert dutch.tokenizer.offsets("The dog.") == [(0, 0), *ours.tokenizer.offsets("The dog.")]
    assert (dutch.languages, ours.languages) == (("en", "nl"), ("en", "de"))
    assert dutch.key != ours.key


def test_an_unknown_target_is_one_sentence(pairs: dict[str, Pair]) -> None:
    with pytest.raises(InputTextError, match=r"does not know the language 'xyz'. Choose one of its 2: deu, nld\."):
        pairs["swish"].ours.translate(">>xyz<< The dog.")


def test_offsets_name_the_characters_behind_each_token(pairs: dict[str, Pair]) -> None:
    tokenizer = pairs["swish"].ours.tokenizer
    text = ">>deu<< The  dog 中"
    spans = [text[begin:end] for begin, end in tokenizer.offsets(text)]
    tokens = tokenizer.tokens(tokenizer.encode(text))
    assert tokens[0] == spans[0] == ">>deu<<"
    assert spans[-1] == "中"
    assert all(token.strip("▁") in (span, "", "<unk>") for token, span in zip(tokens, spans, strict=True))
