"""Checkpoints come back as saved, nothing damaged is loaded, and a folder is opened as what it holds."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from model import Translator, open_reader
from model.checkpoint import MANIFEST, WEIGHTS, save_checkpoint, write_manifest
from model.errors import CheckpointError, DeviceError
from model.nn.architectures import new_model
from model.opening import as_translator
from tests.model.adapters.zoo import save_model


@pytest.fixture
def folder(tiny_checkpoints: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "copy"))


def test_a_loaded_checkpoint_is_the_saved_model_in_16_bit(translator: Translator, tiny_checkpoints: Path) -> None:
    loaded = Translator.load(tiny_checkpoints / "en-de", device="cpu")
    assert loaded.config == translator.config
    assert not loaded.model.training
    for (name, ours), (_, theirs) in zip(
        loaded.model.named_parameters(), translator.model.named_parameters(), strict=True
    ):
        assert torch.equal(ours, theirs.half().float()), name
    assert loaded.name == "en-de"
    assert len(loaded.digest) == 64


@pytest.mark.parametrize("name", ["config.json", WEIGHTS, "tokenizer.model", "README.md"])
def test_a_changed_or_missing_file_is_named(folder: Path, name: str) -> None:
    path = folder / name
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(CheckpointError, match=rf"{name} differs"):
        Translator.load(folder)
    path.unlink()
    with pytest.raises(CheckpointError, match=f"lacks {name}"):
        Translator.load(folder)


@pytest.mark.parametrize(
    "manifest", ["", "[]", "{}", '{"sha256": []}', '{"sha256": {"config.json": 5}}', "[" * 100_000, None]
)
def test_a_damaged_manifest_is_said(folder: Path, manifest: str | None) -> None:
    (folder / MANIFEST).unlink()
    if manifest is not None:
        (folder / MANIFEST).write_text(manifest, encoding="utf-8")
    with pytest.raises(CheckpointError, match="manifest"):
        Translator.load(folder)


def test_a_manifest_cannot_point_outside_its_folder(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    manifest["sha256"]["../../etc/passwd"] = "0" * 64
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(CheckpointError, match="plain file names"):
        Translator.load(folder)


def test_pickled_weights_are_never_opened(folder: Path, tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
            return (Path.touch, (tmp_path / "pwned",))

    (folder / WEIGHTS).write_bytes(pickle.dumps(Evil()))
    write_manifest(folder)
    with pytest.raises(CheckpointError, match="not a safetensors"):
        Translator.load(folder)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("d_model", 64, "tensors differ"),
        ("num_layers", 3, "tensors differ"),
        ("num_layers", 10**9, "between 1 and 128"),
        ("vocab_size", 371, "do not belong together"),
        ("colour", "red", "Unknown settings: colour"),
    ],
)
def test_settings_that_do_not_fit_are_said(folder: Path, setting: str, value: object, message: str) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, setting: value}), encoding="utf-8")
    write_manifest(folder)
    with pytest.raises(CheckpointError, match=message):
        Translator.load(folder)


def test_weights_that_are_no_numbers_or_not_ours_are_refused(folder: Path) -> None:
    weights = load_file(folder / WEIGHTS)
    name = next(iter(weights))
    broken = weights[name].clone()
    broken.view(-1)[0] = torch.nan
    for changed, message in (
        ({**weights, name: broken}, "not finite"),
        ({**weights, "extra": torch.zeros(2)}, "extra"),
        ({key: value for key, value in weights.items() if key != name}, "got none"),
    ):
        save_file(changed, folder / WEIGHTS)
        write_manifest(folder)
        with pytest.raises(CheckpointError, match=message):
            Translator.load(folder)


def test_weights_too_large_for_16_bit_are_not_written(translator: Translator, tmp_path: Path) -> None:
    model = new_model(translator.config)
    next(model.parameters()).data.view(-1)[0] = 1e6
    with pytest.raises(CheckpointError, match=r"1 of the model's tensors \(the first is .*65,504"):
        save_checkpoint(tmp_path / "new", model, translator.tokenizer)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("device", ["cuda:99", "gpu", "mps", "cpu:x"])
def test_a_device_that_is_not_there_is_said(folder: Path, device: str) -> None:
    with pytest.raises(DeviceError, match=r"cuda|CUDA"):
        Translator.load(folder, device=device)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a CUDA device"))])  # fmt: skip
def test_a_bfloat16_trace_reproduces_the_real_head_output_to_its_precision(translator: Translator, device: str) -> None:
    model = translator.model
    half = Translator(type(model)(model.config).to(device, torch.bfloat16), translator.tokenizer)
    trace = half.trace("Tom told me that.", extras={"hook_head_output"})
    for site in trace.sites:
        for layer in range(2):
            tolerance = trace.head_output_tolerance(site, layer)
            assert tolerance == pytest.approx(2e-2 * trace.largest_head_output(site, layer))
            assert trace.head_output_deviation(site, layer) <= tolerance


def test_a_checkpoint_of_ours_opens_as_a_translator_that_can_do_everything(tiny_checkpoints: Path) -> None:
    reader = open_reader(tiny_checkpoints / "en-de", "cpu")
    assert isinstance(reader, Translator)
    abilities = reader.abilities
    assert (abilities.kind, abilities.positions, abilities.lacks) == ("encoder-decoder", "sinusoidal", {})
    assert abilities.shapes == reader.trace("The animal was tired.").shapes
    assert abilities.has("scores")


def test_only_what_headlight_runs_itself_is_a_translator(tiny_checkpoints: Path, tmp_path: Path) -> None:
    ours = open_reader(tiny_checkpoints / "en-de", "cpu")
    assert as_translator(ours) is ours
    assert ours.languages == ("en", "de")
    theirs = open_reader(save_model(tmp_path / "mine", "bart", "metaspace"), "cpu")
    assert theirs.languages == ("", "")
    with pytest.raises(CheckpointError, match="mine is a model of another kind: Bart"):
        as_translator(theirs)
