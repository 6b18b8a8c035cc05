"""Two processes under torchrun train as one does."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model.__main__ import main
from tests.conftest import SENTENCES
from tests.patience import PATIENCE

LAUNCHER = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", "-m", "--", "model"]
SHAPE = "--vocab-size 370 --d-model 32 --num-heads 4 --num-layers 2 --d-ff 64 --dropout 0 --attention-dropout 0"
SETTINGS = "--no-bf16 --steps 6 --tokens-per-batch 60 --peak 3e-3 --warmup 3 --device cpu"
OPTIONS = [*SHAPE.split(), *SETTINGS.split()]


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


def train(
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


@pytest.mark.skipif(sys.platform == "win32", reason="torchrun's store is not built for Windows")
def test_two_processes_take_the_same_first_steps_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def in_this_process(arguments: list[str]) -> str:
        assert main(arguments) == 0
        return capsys.readouterr().out

    alone_log, alone, alone_summary = train(in_this_process, tmp_path / "one")
    both_log, both, both_summary = train(under_launcher, tmp_path / "two")
    assert alone_log["step"] == both_log["step"] == 6
    assert both_log["learning_rate"] == alone_log["learning_rate"]
    assert both_log["loss"] == pytest.approx(alone_log["loss"], rel=1e-4)
    assert both_summary["pairs"] == alone_summary["pairs"]
    assert alone.keys() == both.keys()
    for name in alone:
        torch.testing.assert_close(both[name], alone[name], rtol=1e-3, atol=2e-4, msg=name)
