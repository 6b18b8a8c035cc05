"""The training loop: it learns, a killed run goes on as if it had not been, and two processes train as one."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from model.__main__ import main
from model.config import TransformerConfig
from model.errors import ConfigError, DataError
from model.evaluation import evaluate
from model.nn.transformer import Transformer
from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.batches import Example, encode_pairs
from model.training.loop import TrainingRun, TrainSettings, read_log
from model.training.optimizer import OPTIMIZERS, OptimizerName
from tests.conftest import SENTENCES
from tests.patience import PATIENCE

PAIRS = [Pair(english, german) for english, german in zip(SENTENCES[::2][:4], SENTENCES[1::2][:4], strict=True)]
SETTINGS = TrainSettings(
    steps=12, tokens_per_batch=60, warmup=4, peak=3e-3, bf16=False, dev_every=100, save_every=4, average=2
)
CPU = torch.device("cpu")


NewRun = Callable[..., TrainingRun]


@pytest.fixture
def new_run(tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer) -> NewRun:
    """Name of a folder and changed settings → a run there, or what went on there before."""

    def made(name: str = "", **changes: Any) -> TrainingRun:
        settings = replace(SETTINGS, **changes)
        return TrainingRun(tmp_path / name, replace(config, dropout=0.2), tokenizer, settings, CPU)

    return made


@pytest.fixture(scope="module")
def examples(tokenizer: Tokenizer) -> list[Example]:
    return encode_pairs(PAIRS * 10, tokenizer, 100)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_killed_run_ends_as_an_unbroken_one(
    tmp_path: Path, new_run: NewRun, examples: list[Example], optimizer: OptimizerName
) -> None:
    whole = new_run("whole", optimizer=optimizer).train(examples, {})
    broken = new_run("broken", optimizer=optimizer)
    steps = iter(range(6))

    def kill_at_step_seven(*_: object) -> None:
        if next(steps, None) is None:
            raise KeyboardInterrupt

    broken.model.encoder.register_forward_pre_hook(kill_at_step_seven)
    with pytest.raises(KeyboardInterrupt):
        broken.train(examples, {})
    resumed = new_run("broken", optimizer=optimizer)
    assert resumed.step == 4
    again = resumed.train(examples, {})
    for (name, a), (_, b) in zip(whole.named_parameters(), again.named_parameters(), strict=True):
        torch.testing.assert_close(a, b, msg=name)
    rates = [entry["learning_rate"] for entry in read_log(tmp_path / "whole")]
    assert rates[-1] == [entry["learning_rate"] for entry in read_log(tmp_path / "broken")][-1]


def test_the_log_of_a_killed_run_says_every_step_once(tmp_path: Path, new_run: NewRun, examples: list[Example]) -> None:
    new_run().train(examples, {}, until=8)
    with (tmp_path / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps({"step": 9, "learning_rate": 1.0, "loss": 1.0}) + "\n")
        log.write('{"step": 10, "learn')
    new_run().train(examples, {})
    steps = [entry["step"] for entry in read_log(tmp_path) if "loss" in entry]
    assert steps == [8, 12]


def test_a_new_run_can_start_from_trained_weights_and_a_resumed_one_keeps_its_own(
    new_run: NewRun, examples: list[Example], config: TransformerConfig
) -> None:
    trained = Transformer(replace(config, dropout=0.2))
    run = new_run()
    run.start_from(trained)
    for (name, ours), (_, theirs) in zip(run.model.named_parameters(), trained.named_parameters(), strict=True):
        assert torch.equal(ours, theirs), name
    run.train(examples, {}, until=4)
    resumed = new_run()
    kept = resumed.model.projection.weight.clone()
    resumed.start_from(trained)
    assert torch.equal(resumed.model.projection.weight, kept)


@pytest.mark.parametrize("setting", [("seed", 2), ("optimizer", "muon"), ("steps", 24)], ids=lambda setting: setting[0])
def test_a_run_does_not_go_on_with_other_settings(
    new_run: NewRun, tokenizer: Tokenizer, setting: tuple[str, object]
) -> None:
    new_run().train(encode_pairs(PAIRS, tokenizer, 100), {}, until=4)
    name, other = setting
    with pytest.raises(ConfigError, match=f"{name} {getattr(SETTINGS, name)}, not {other}") as raised:
        new_run(**{name: other})
    assert "use another folder" in str(raised.value)
    assert new_run().step == 4


@pytest.mark.parametrize("keep", [0, -50])
def test_a_damaged_state_is_said(tmp_path: Path, new_run: NewRun, examples: list[Example], keep: int) -> None:
    new_run(steps=4).train(examples, {})
    state = tmp_path / "state.safetensors"
    state.write_bytes(state.read_bytes()[:keep])
    with pytest.raises(DataError, match="damaged"):
        new_run()


def test_a_loss_that_is_no_number_ends_the_run_and_leaves_the_last_state(
    new_run: NewRun, examples: list[Example], config: TransformerConfig
) -> None:
    new_run().train(examples, {}, until=4)
    run = new_run()
    before = {name: parameter.clone() for name, parameter in run.model.named_parameters()}
    run.model.projection.bias = torch.nn.Parameter(torch.full((config.vocab_size,), torch.nan))
    with pytest.raises(DataError, match=r"At step 5 the loss is nan.*--peak 0\.0015"):
        run.train(examples, {})
    again = new_run()
    assert again.step == 4
    for name, parameter in again.model.named_parameters():
        assert torch.equal(parameter, before[name])


def test_the_last_states_are_averaged(tmp_path: Path, new_run: NewRun, examples: list[Example]) -> None:
    run = new_run()
    model = run.train(examples, {})
    from safetensors.torch import load_file

    # Run again, it takes no step more.
    for until in (None, 8):
        again = new_run()
        torch.testing.assert_close(
            dict(again.train(examples, {}, until).named_parameters()), dict(model.named_parameters())
        )
        assert again.step == 12
    files = sorted(tmp_path.glob("weights-*.safetensors"))
    assert [file.stem for file in files] == ["weights-00000008", "weights-00000012"]
    states = [load_file(file) for file in files]
    for name, parameter in model.named_parameters():
        mean = (states[0][f"model.{name}"] + states[1][f"model.{name}"]) / 2
        torch.testing.assert_close(parameter.data, mean)


@pytest.mark.long
def test_training_learns_a_few_sentences_by_heart(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    settings = replace(
        SETTINGS, steps=150, warmup=25, tokens_per_batch=200, smoothing=0.0, dev_every=140, save_every=150
    )
    run = TrainingRun(tmp_path, replace(config, d_model=64, dropout=0.0), tokenizer, settings, CPU)
    model = run.train(encode_pairs(PAIRS, tokenizer, 100), {"same": PAIRS})
    scores = evaluate(model, tokenizer, PAIRS)
    assert scores.bleu > 90
    assert scores.sentences == 4
    log = read_log(tmp_path)
    assert log[-1]["bleu_same"] > 90
    assert log[0]["loss"] > log[-2]["loss"]
    assert [entry["step"] for entry in log if "loss" in entry] == [50, 100, 150]
    assert [entry["step"] for entry in log if "bleu_same" in entry] == [140, 150]


LAUNCHER = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", "-m", "--", "model"]
SHAPE = "--vocab-size 370 --d-model 32 --num-heads 4 --num-layers 2 --d-ff 64 --dropout 0 --attention-dropout 0"
IN_PROCESSES = "--no-bf16 --steps 6 --tokens-per-batch 60 --peak 3e-3 --warmup 3 --device cpu"
OPTIONS = [*SHAPE.split(), *IN_PROCESSES.split()]


def under_launcher(arguments: list[str]) -> str:
    result = subprocess.run(
        [*LAUNCHER, *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout


def train_by(
    run: Callable[[list[str]], str], folder: Path
) -> tuple[dict[str, float], dict[str, torch.Tensor], dict[str, object]]:
    data = folder / "pairs.tsv"
    pairs = zip(SENTENCES[::2], SENTENCES[1::2], strict=False)
    folder.mkdir()
    data.write_text("".join(f"{english}\t{german}\n" for english, german in pairs), encoding="utf-8")
    files = ["--data", str(data), "--run", str(folder / "run"), "--out", str(folder / "out")]
    output = run(["train", *files, *OPTIONS])
    log = [json.loads(line) for line in (folder / "run" / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    state = load_file(folder / "run" / "state.safetensors")
    return log[0], state, json.loads(output.splitlines()[-1])


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="torchrun's store is not built for Windows")
def test_two_processes_take_the_same_first_steps_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def in_this_process(arguments: list[str]) -> str:
        assert main(arguments) == 0
        return capsys.readouterr().out

    alone_log, alone, alone_summary = train_by(in_this_process, tmp_path / "one")
    both_log, both, both_summary = train_by(under_launcher, tmp_path / "two")
    assert alone_log["step"] == both_log["step"] == 6
    assert both_log["learning_rate"] == alone_log["learning_rate"]
    assert both_log["loss"] == pytest.approx(alone_log["loss"], rel=1e-4)
    assert both_summary["pairs"] == alone_summary["pairs"]
    assert alone.keys() == both.keys()
    for name in alone:
        torch.testing.assert_close(both[name], alone[name], rtol=1e-3, atol=2e-4, msg=name)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"learning_rate": 1.0}',
        '{"step": -1}',
        '{"step": 4, "loss": NaN}',
        f'{{"step": 4, "{"n" * 61}": ""}}',
    ],
)
def test_a_damaged_line_of_the_log_is_said(tmp_path: Path, new_run: NewRun, examples: list[Example], line: str) -> None:
    new_run().train(examples, {}, until=4)
    log = tmp_path / "log.jsonl"
    log.write_text(f"{line}\n{log.read_text(encoding='utf-8')}", encoding="utf-8")
    with pytest.raises(DataError, match=r"Line 1 of .*log\.jsonl is damaged") as raised:
        new_run()
    assert "n" * 61 not in str(raised.value)
