"""The command line: results on standard output, exit code 2 and one line for bad input."""

import json
import os
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch

from model import Translator
from model.__main__ import main
from model.trace.file import expected_bytes, weight_bytes
from tests.conftest import SENTENCES


@pytest.fixture
def checkpoint(tiny_checkpoints: Path) -> str:
    return str(tiny_checkpoints / "en-de")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text(
        "".join(f"{a}\t{b}\n" for a, b in zip(SENTENCES[::2], SENTENCES[1::2], strict=True)), encoding="utf-8"
    )
    return path


def test_translate_prints_the_translation_alone(
    checkpoint: str, translator: Translator, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["translate", SENTENCES[0], "--checkpoint", checkpoint]) == 0
    assert capsys.readouterr().out == Translator.load(checkpoint).translate(SENTENCES[0]) + "\n"
    assert main(["translate", SENTENCES[0], "--checkpoint", checkpoint, "--beam", "3"]) == 0


def test_evaluate_shows_each_pair_with_its_translation(
    checkpoint: str, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["evaluate", "--data", str(pairs), "--limit", "2", "--checkpoint", checkpoint, "--show"]
    translation = Translator.load(checkpoint).translate(SENTENCES[2])
    assert main([*arguments, "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["translations"][1]
    assert row == {"source": SENTENCES[2], "reference": SENTENCES[3], "translation": translation}
    assert main(arguments) == 0
    blocks = capsys.readouterr().out.split("\n\n")
    assert len(blocks) == 3
    assert blocks[1] == f"{SENTENCES[2]}\n  reference    {SENTENCES[3]}\n  translation  {translation}"
    assert blocks[2].startswith("BLEU")


def test_trace_writes_every_weight_of_every_site_of_a_text_that_is_not_too_long(
    checkpoint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, texts = tmp_path / "trace.npz", ("Tom told me.", "Tom sagte.")
    arguments = ["trace", texts[0], "--target", texts[1], "--out", str(out), "--checkpoint", checkpoint]
    trace = Translator.load(checkpoint).trace(*texts)
    size = expected_bytes(trace) + weight_bytes(trace)
    monkeypatch.setattr("model.__main__.LARGEST_TRACE", size - 1)
    assert main(arguments) == 2
    assert "The attention weights for this text take 0.0 GB, more than the 0.0 GB" in capsys.readouterr().err
    monkeypatch.setattr("model.__main__.LARGEST_TRACE", size)
    assert main(arguments) == 0
    with np.load(out, allow_pickle=False) as arrays:
        source, target = len(arrays["source_tokens"]), len(arrays["target_tokens"])
        assert arrays["target_tokens"][0] == "<s>"
        assert arrays["encoder.self/weights"].shape == (2, 4, source, source)
        assert arrays["decoder.self/weights"].shape == (2, 4, target, target)
        assert arrays["decoder.cross/weights"].shape == (2, 4, target, source)


def test_a_checkpoint_tells_what_it_was_trained_on_and_can_be_trained_on(
    pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.training.made_sets.PRONOUN_PAIRS", 2_000)
    from model.checkpoint import load_checkpoint
    from model.training_record import read_log, read_training

    shape = ["--vocab-size", "370", "--d-model", "16", "--num-layers", "1", "--num-heads", "2", "--d-ff", "16"]
    steps = ["--steps", "3", "--save-every", "2", "--device", "cpu", "--tokens-per-batch", "400"]
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(["train", "--data", str(pairs), "--run", str(tmp_path / "a"), "--out", str(first), *shape, *steps]) == 0
    second.mkdir()
    (second / "metrics.json").write_text("{}", encoding="utf-8")
    more = ["--start-from", str(first), "--typed", "0.5", "--cuts", "3", "--pronouns", "0.2", "--until", "2"]
    files = ["--data", f"{pairs}=2.5", "--run", str(tmp_path / "b"), "--out", str(second)]
    assert main(["train", *files, *steps, *more]) == 0
    capsys.readouterr()

    record, log = read_training(second), read_log(second)
    assert record is not None
    assert log is not None
    own, pronouns = record.data
    assert (own.name, own.weight, pronouns.name) == ("pairs", 2.5, "pronouns")
    assert 16 < own.pairs <= 32, "a pair and its variant, whatever number of cuts they come in"
    assert 2_000 <= pronouns.pairs <= 3_000
    assert (dict(record.settings)["pronouns"], dict(record.settings)["cuts"]) == (0.2, 3)
    assert "first" in record.note
    assert log.loss.steps == (2,)
    assert not (second / "metrics.json").exists()
    device = torch.device("cpu")
    one, other = load_checkpoint(first, device), load_checkpoint(second, device)
    assert one.tokenizer.serialized == other.tokenizer.serialized
    assert one.model.config == other.model.config
    assert main(["train", *files, *steps, *more, "--d-model", "32"]) == 2
    assert "does not fit" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["translate", "  "], "empty"),
        (["translate", "word " * 1000], "at most 63 tokens"),
        (["translate", "Tom.", "--checkpoint", "/nowhere"], "There is no folder /nowhere."),
        (["translate", "Tom.", "--device", "cuda:77"], "CUDA devices"),
        (["evaluate", "--data", "/nowhere.tsv"], "no file"),
        (["trace", "Tom.", "--out", "/nowhere/x.npz"], "no folder"),
        (
            ["train", "--data", "x", "--run", "r", "--out", "o", "--nouns", "0.1"],
            "give its folder too, with --dictionary DIR",
        ),
        (
            ["train", "--data", "x", "--run", "r", "--out", "o", "--pronouns", "0.9", "--copying", "0.5"],
            "add up to 1.4",
        ),
        (
            ["train", "--data", "x", "--run", "r", "--out", "o", "--taught", "1", "--taught-layer", "6"],
            "Layer 6 of the encoder has no head 0",
        ),
        (["grow", "--layers", "3", "--out", "CHECKPOINT"], "already contains a checkpoint; use another folder."),
        (["translate", "Tom.", "--checkpoint", "."], "or a Headlight checkpoint"),
        (["grow", "--layers", "3", "--out", "x", "--checkpoint", "."], "`python -m model trace TEXT --model MODEL"),
        (["translate", "Tom.", "--checkpoint", "/"], "/ is the root of the file system"),
        (["align", "--data", "."], "cannot be read: Is a directory."),
        (["coreference", "--data", "folder.jsonl"], "cannot be read: Is a directory."),
        (["translate", "Tom.", "--checkpoint", "x" * 5_000], " …' cannot be used: file name too long."),
    ],
)
def test_bad_input_gives_one_line_and_exit_code_2(
    arguments: list[str],
    message: str,
    checkpoint: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "--checkpoint" not in arguments and arguments[0] not in ("train", "claims"):
        arguments = [*arguments, "--checkpoint", checkpoint]
    (tmp_path / "folder.jsonl").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main([word.replace("CHECKPOINT", checkpoint) for word in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Reading data" not in captured.err or "/nowhere.tsv" in arguments, "what is slow comes after all checks"
    assert message in captured.err.splitlines()[-1]
    assert "Errno" not in captured.err
    assert "model: has no" not in captured.err


@pytest.mark.parametrize(
    ("words", "cut"),
    [(("Tom told me.",), 0), (("Tom " * 200_000,), 1), (("Tom.", "dog " * 70), 1)],
    ids=["short", "200,000 words", "two"],
)
def test_evaluate_says_how_many_sources_it_cut(
    words: tuple[str, ...], cut: int, checkpoint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "long.tsv"
    path.write_text("".join(f"{source}\tTom.\n" for source in words), encoding="utf-8")
    assert main(["evaluate", "--data", str(path), "--checkpoint", checkpoint, "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["cut"] == cut
    said = f"{cut} of them are longer than 63 tokens, and were cut to as many."
    assert (said in captured.err.splitlines()) == bool(cut)


OUTPUTS = {
    "trace": (["trace", "Tom.", "--checkpoint", "CHECKPOINT"], "--out", True),
    "atlas": (["atlas", "--text", "TEXT", "--checkpoint", "CHECKPOINT"], "--out", True),
    "film": (["train", "--data", "DATA", "--run", "RUN", "--out", "NEW"], "--film", True),
    "run": (["train", "--data", "DATA", "--out", "NEW"], "--run", False),
    "checkpoint": (["train", "--data", "DATA", "--run", "RUN"], "--out", False),
    "grow": (["grow", "--layers", "3", "--checkpoint", "CHECKPOINT"], "--out", False),
    "ablations": (["ablations", "--data", "DATA"], "--out", False),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_place_where_nothing_can_be_written_is_said_before_anything_is_computed(
    name: str,
    checkpoint: str,
    pairs: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command, option, is_file = OUTPUTS[name]
    places = {"CHECKPOINT": checkpoint, "TEXT": str(pairs), "DATA": str(pairs), "RUN": "run", "NEW": "new"}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("content", encoding="utf-8")
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name not in ("file", "folder") and may(path, mode))

    def said(place: str) -> str:
        assert main([*(places.get(word, word) for word in command), option, place]) == 2
        captured = capsys.readouterr()
        assert (captured.out, captured.err.count("\n")) == ("", 1)
        return captured.err

    if is_file:
        assert "folder is a folder. Name a file" in said("folder")
        assert "There is no folder none, so x cannot be written." in said("none/x")
        assert "There is no folder file, so x cannot be written." in said("file/x")
        assert "file cannot be written: permission denied." in said("file")
        os.mkfifo("pipe")
        assert ("--film needs the name of a file." if name == "film" else "pipe that no program reads.") in said("pipe")
        Path("pipe").unlink()
    else:
        assert "Standard output (-) cannot be a folder." in said("-")
        assert "file is not a folder. Name a folder to write into." in said("file")
        assert "file is not a folder. Name a folder to write into." in said("file/x")
    assert "x cannot be written: " in said("folder/x")
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "file", "pairs.tsv"}


@pytest.mark.parametrize("name", ["trace", "atlas"])
def test_a_result_goes_to_standard_output_alone(
    name: str, checkpoint: str, pairs: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    command, option, _ = OUTPUTS[name]
    pairs.write_text("Tom.\n", encoding="utf-8")
    places = {"CHECKPOINT": checkpoint, "TEXT": str(pairs)}
    arguments = [*(places.get(word, word) for word in command), option]
    assert main([*arguments, str(tmp_path / "file.npz")]) == 0
    capfdbinary.readouterr()
    assert main([*arguments, "-"]) == 0
    with np.load(BytesIO(capfdbinary.readouterr().out)) as sent, np.load(tmp_path / "file.npz") as written:
        assert sent.files == written.files
        assert all(sent[array].tobytes() == written[array].tobytes() for array in sent.files)


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["sing"], ["translate"],
        ["trace", "Tom.", "--out", "x.npz", "--model", "m", "--checkpoint", "c"],
        *(["train", *given.split()] for given in (
            "--steps many", "--data x.tsv=0", "--data x.tsv=many", "--pronouns 1", "--typed -0.1", "--cuts -1",
        )),
        ["translate", "--beam", "0"], ["pronouns", "--part", "train"], ["copying", "--sentences", "0"],
        ["claims", "--size", "63"],
    ],
)  # fmt: skip
def test_wrong_options_give_one_line_that_names_them_and_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    if len(arguments) == 3:
        assert f"argument {arguments[1]}: " in line
