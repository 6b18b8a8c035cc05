"""A folder of unknown origin: found by its path, refused in one sentence where it is wrong, and nothing of it runs."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from model.adapters import other_weights, weights_process
from model.adapters.folder_check import check_folder
from model.adapters.inspect_folder import folder_with_model, is_elsewhere
from model.adapters.limited_process import answered
from model.adapters.text_reader import TextReader
from model.errors import CheckpointError
from model.opening import open_reader
from tests.model.adapters.zoo import refused, set_config

Folder = Callable[[str], Path]


def test_a_folder_without_a_model_says_what_is_expected(tmp_path: Path) -> None:
    refused(tmp_path / "none", "There is no folder")
    refused(tmp_path, "no config.json.*save_pretrained")


class Evil:
    """Pickled, it makes a file where it is opened."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> tuple[object, ...]:
        return open, (str(self.made), "w")


def test_pickled_weights_are_read_as_plain_tensors_or_not_at_all(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process of its own takes seconds; a GGUF file is read by one (`test_gguf`).
    monkeypatch.setattr(other_weights, "answer_of", lambda _, files, **__: answered(weights_process.answer_to, *files))
    expected = open_reader(bert).trace("the animal").weights("encoder.self", 1)
    weights = bert / "model.safetensors"
    tensors = load_file(weights)
    weights.unlink()
    torch.save(tensors, bert / "pytorch_model.bin")
    assert torch.equal(open_reader(bert).trace("the animal").weights("encoder.self", 1), expected)
    torch.save(tensors | {"evil": Evil(tmp_path / "ran")}, bert / "pytorch_model.bin")
    refused(bert, "cannot be read as plain tensors.*pickle")
    assert not (tmp_path / "ran").exists()
    # Whatever else it is called.
    (bert / "pytorch_model.bin").rename(bert / "weights.ckpt")
    refused(bert, "weights.ckpt is pickle")


@pytest.mark.parametrize(
    ("file", "program"),
    [("model.bin", "CTranslate2"), ("model.onnx", "ONNX"), ("tf_model.h5", "TensorFlow"), ("x.msgpack", "Flax")],
)
def test_weights_for_other_programs_are_named(bert: Path, file: str, program: str) -> None:
    (bert / "model.safetensors").unlink()
    (bert / file).write_bytes(bytes(64))
    refused(bert, f"{file} is for {program}.*pytorch_model.bin")


def test_weights_that_are_missing_cut_off_or_no_safetensors_are_refused(bert: Path) -> None:
    weights = bert / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-100])
    refused(bert, "incomplete")
    weights.write_bytes(b"\x80\x04" + b"x" * 100)
    refused(bert, "not a safetensors file")
    weights.write_bytes((20).to_bytes(8, "little") + b"[" * 20)
    refused(bert, "not a safetensors file|damaged")
    weights.unlink()
    refused(bert, "no weights")


def test_weights_in_parts_are_read_and_parts_stay_in_the_folder(bert: Path) -> None:
    tensors = load_file(bert / "model.safetensors")
    whole = open_reader(bert).trace("The animal was tired.")
    (bert / "model.safetensors").unlink()
    names = sorted(tensors)
    parts = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for part, held in parts.items():
        save_file({name: tensors[name] for name in held}, bert / part, metadata={"format": "pt"})
    index: dict[str, dict[str, object]] = {
        "metadata": {},
        "weight_map": {name: part for part, held in parts.items() for name in held},
    }
    (bert / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    again = open_reader(bert).trace("The animal was tired.")
    assert torch.equal(again.weights("encoder.self", 1), whole.weights("encoder.self", 1))
    for wrong in ("../x.safetensors", "/etc/passwd", "a/b.safetensors", "x.bin", 7):
        index["weight_map"][names[0]] = wrong
        (bert / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
        refused(bert, "must name .safetensors files of this folder")
    index["weight_map"][names[0]] = "model-00003-of-00003.safetensors"
    (bert / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    refused(bert, "lacks model-00003")


def test_the_cache_of_the_hub_may_link_to_its_own_blobs(folder: Folder, tmp_path: Path) -> None:
    snapshot, blobs = tmp_path / "models--x--y" / "snapshots" / "0123", tmp_path / "models--x--y" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, file in enumerate(folder("bert").iterdir()):
        shutil.copy(file, blobs / str(number))
        (snapshot / file.name).symlink_to(Path("../../blobs") / str(number))
    assert open_reader(snapshot).digest == open_reader(folder("bert")).digest


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"model_type": NaN}', "\udcff"])
def test_a_damaged_config_is_refused(bert: Path, text: str) -> None:
    (bert / "config.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    refused(bert, "config.json cannot be read")


def test_a_huge_config_is_refused_unread(bert: Path) -> None:
    (bert / "config.json").write_text(json.dumps({"x": "y" * (1 << 20)}), encoding="utf-8")
    refused(bert, "more than 1,048,576 bytes")


@pytest.mark.parametrize("model_type", ["evil", None, 3, ["bert"], "x" * 500])
def test_a_kind_that_the_library_does_not_have_is_named(bert: Path, model_type: object) -> None:
    set_config(bert, model_type=model_type)
    refused(bert, f"transformers {transformers.__version__} does not have")


@pytest.mark.parametrize(
    "values",
    [
        {"hidden_size": "many"},
        {"num_attention_heads": 7},
        {"hidden_size": -4},
        {"num_hidden_layers": 3},
        {"vocab_size": 9},
    ],
)
def test_values_that_make_no_model_are_refused(bert: Path, values: dict[str, object]) -> None:
    set_config(bert, **values)
    refused(bert, ".")


@pytest.mark.parametrize(
    "values",
    [
        {"hidden_size": 10**12},
        {"hidden_size": 10**6, "intermediate_size": 10**6},
        {"rope_parameters": {"factor": 1e300}},
    ],
)
def test_numbers_that_would_exhaust_the_machine_are_refused_first(bert: Path, values: dict[str, object]) -> None:
    set_config(bert, **values)
    refused(bert, "the limit is|at most|far fewer")


def test_a_config_from_before_2020_is_of_the_type_of_the_class_that_it_names(bert: Path) -> None:
    settings = json.loads((bert / "config.json").read_text(encoding="utf-8"))
    del settings["model_type"]
    (bert / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    assert open_reader(bert).abilities.family == "Bert"
    for names in (None, [], ["OfSomeoneElse"], [3], ["BertModel", "GPT2Model"]):
        (bert / "config.json").write_text(json.dumps({**settings, "architectures": names}), encoding="utf-8")
        refused(bert, 'does not name the type.*Add a line with it, for example "model_type": "bert"')


def test_nothing_in_a_folder_is_run_or_fetched(bert: Path, tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    (bert / "modeling_evil.py").write_text(f"open({str(proof)!r}, 'w')\n", encoding="utf-8")
    orders = {
        "AutoModel": "modeling_evil.Evil",
        "AutoConfig": "modeling_evil.Evil",
        "AutoTokenizer": ["modeling_evil.E", None],
    }
    set_config(
        bert,
        auto_map=orders,
        _attn_implementation="kernels-community/evil",
        attn_implementation="evil/evil",
        transformers_weights="../evil.safetensors",
        _name_or_path="evil/evil",
    )
    settings = json.loads((bert / "tokenizer_config.json").read_text(encoding="utf-8"))
    (bert / "tokenizer_config.json").write_text(json.dumps({**settings, "auto_map": orders}), encoding="utf-8")
    assert open_reader(bert).trace("The animal was tired.").sites == ("encoder.self",)
    assert not proof.exists()


def test_quantized_weights_are_refused(bert: Path) -> None:
    set_config(bert, quantization_config={"quant_method": "bitsandbytes", "load_in_4bit": True})
    refused(bert, "quantized")
    # Some folders say by a null that nothing is.
    set_config(bert, quantization_config=None)
    assert open_reader(bert).abilities.shapes


def test_a_folder_without_a_tokenizer_says_how_to_get_one(bert: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (bert / name).unlink()
    refused(bert, "no tokenizer.*save_pretrained")


@pytest.mark.parametrize("text", ["", "{}", "[" * 5000, '{"version": "1.0", "model": {"type": "Evil"}}'])
def test_a_damaged_tokenizer_is_refused(bert: Path, text: str) -> None:
    (bert / "tokenizer.json").write_text(text, encoding="utf-8")
    refused(bert, "tokenizer")


def test_a_link_in_a_circle_is_no_file(bert: Path) -> None:
    (bert / "extra.json").symlink_to(bert / "extra.json")
    assert open_reader(bert).abilities.family == "Bert"
    (bert / "config.json").unlink()
    (bert / "config.json").symlink_to(bert / "config.json")
    refused(bert, "no config.json")


def test_the_digest_names_the_content(bert: Path, folder: Folder) -> None:
    before = check_folder(bert).digest()
    assert before == check_folder(folder("bert")).digest()
    (bert / "notes.md").write_text("hello", encoding="utf-8")
    assert check_folder(bert).digest() == before
    (bert / "bpe.codes").write_text("a b 1", encoding="utf-8")
    with_codes = check_folder(bert).digest()
    assert with_codes != before, "a file that the tokenizer reads is content, whatever its name ends in"
    set_config(bert, note=1)
    assert check_folder(bert).digest() != with_codes


def test_how_to_search_is_not_for_a_folder_to_say(folder: Folder, tmp_path: Path) -> None:
    changed = Path(shutil.copytree(folder("marian"), tmp_path / "marian"))
    settings = json.loads((changed / "generation_config.json").read_text(encoding="utf-8"))
    orders = {"num_beams": 7, "do_sample": True, "temperature": 9.0, "min_new_tokens": 90, "bad_words_ids": [[5]]}
    (changed / "generation_config.json").write_text(json.dumps({**settings, **orders}), encoding="utf-8")
    reader = open_reader(changed)
    assert isinstance(reader, TextReader)
    kept: Any = reader.model.generation_config
    assert (kept.num_beams, kept.do_sample, kept.min_new_tokens) == (None, None, None)
    assert kept.bad_words_ids == [[5]]
    assert kept.decoder_start_token_id == 2


@pytest.mark.parametrize("value", [{"a": 1}, "x", [[None, "x"]], True, 1.5])
@pytest.mark.parametrize("file", ["config.json", "generation_config.json"])
def test_special_tokens_that_are_no_ids_are_refused(folder: Folder, tmp_path: Path, file: str, value: object) -> None:
    changed = Path(shutil.copytree(folder("t5"), tmp_path / "t5"))
    settings = json.loads((changed / file).read_text(encoding="utf-8"))
    (changed / file).write_text(json.dumps({**settings, "decoder_start_token_id": value}), encoding="utf-8")
    refused(changed, "decoder_start_token_id|generation_config")


@pytest.mark.parametrize("typed", [str, lambda path: f'"{path}"', Path.as_uri], ids=["path", "quoted", "address"])
def test_a_path_is_understood_as_file_managers_copy_it(bert: Path, typed: Callable[[Path], str]) -> None:
    folder = bert.rename(bert.with_name("bert, große"))
    assert folder_with_model(typed(folder)) == folder.resolve()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("C:\\models\\bert", False),
        ("c:\\elsewhere", False),
        ("\\\\school\\models\\bert", False),
        ("D:\\models\\bert", True),
        ("\\\\evil\\models\\bert", True),
        ("//evil/models/bert", True),
        ("\\\\?\\UNC\\evil\\models", True),
        ("\\\\.\\pipe\\x", True),
    ],
)
def test_a_path_of_windows_to_another_drive_or_machine_is_known_by_its_text(path: str, expected: bool) -> None:
    allowed = [PureWindowsPath("C:\\models"), PureWindowsPath("\\\\School\\models")]
    assert is_elsewhere(PureWindowsPath(path), allowed) == expected


def test_where_no_folder_is_allowed_none_is_looked_at(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "resolve", lambda path: pytest.fail(f"looked at {path}"))
    with pytest.raises(CheckpointError, match="only folders that its administrator allows"):
        folder_with_model(str(bert), ())


def test_what_lies_outside_the_allowed_folders_is_refused_with_one_sentence_whatever_it_is(
    bert: Path, tmp_path: Path
) -> None:
    allowed = tmp_path / "allowed"
    shutil.copytree(bert, allowed / "mine")
    (allowed / "out").symlink_to(bert, target_is_directory=True)
    said = set()
    for path in (bert, "/no/such", "/etc/passwd", "~root", allowed / "out", f"{allowed}/../x"):
        with pytest.raises(CheckpointError) as error:
            folder_with_model(str(path), [allowed])
        said.add(str(error.value))
    assert len(said) == 1
    assert folder_with_model(str(allowed / "mine"), [allowed]) == (allowed / "mine").resolve()
