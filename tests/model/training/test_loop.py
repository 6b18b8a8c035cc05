"""Loss, schedule and the training loop: it learns, and a killed run goes on as if it had not been."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save

from model.config import TransformerConfig
from model.errors import DataError
from model.evaluation import evaluate
from model.nn.transformer import Transformer
from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.batches import Batch, encode_pairs
from model.training.loop import TrainingRun, TrainSettings
from model.training.optimizer import OPTIMIZERS, OptimizerName, learning_rate
from model.training.run_files import read_log
from tests.conftest import SENTENCES

PAIRS = [Pair(english, german) for english, german in zip(SENTENCES[::2][:4], SENTENCES[1::2][:4], strict=True)]
SETTINGS = TrainSettings(
    steps=12, tokens_per_batch=60, warmup=4, peak=3e-3, bf16=False, dev_every=100, save_every=4, average=2
)
CPU = torch.device("cpu")


def new_run(folder: Path, config: TransformerConfig, tokenizer: Tokenizer, **changes: Any) -> TrainingRun:
    return TrainingRun(folder, replace(config, dropout=0.2), tokenizer, replace(SETTINGS, **changes), CPU)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_killed_run_ends_as_an_unbroken_one(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer, optimizer: OptimizerName
) -> None:
    examples = encode_pairs(PAIRS * 10, tokenizer, 100)
    whole = new_run(tmp_path / "whole", config, tokenizer, optimizer=optimizer).train(examples, {})
    broken = new_run(tmp_path / "broken", config, tokenizer, optimizer=optimizer)
    steps_taken, take_step = 0, broken._take_step

    def kill_at_step_seven(objective: torch.nn.Module, batch: Batch) -> float:
        nonlocal steps_taken
        steps_taken += 1
        if steps_taken == 7:
            raise KeyboardInterrupt
        return take_step(objective, batch)

    broken._take_step = kill_at_step_seven  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        broken.train(examples, {})
    resumed = new_run(tmp_path / "broken", config, tokenizer, optimizer=optimizer)
    assert resumed.step == 4
    again = resumed.train(examples, {})
    for (name, a), (_, b) in zip(whole.named_parameters(), again.named_parameters(), strict=True):
        torch.testing.assert_close(a, b, msg=name)
    rates = [entry["learning_rate"] for entry in read_log(tmp_path / "whole")]
    assert rates[-1] == [entry["learning_rate"] for entry in read_log(tmp_path / "broken")][-1]


def test_a_run_stopped_on_the_way_goes_on_with_the_same_rate_and_other_data(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    examples = encode_pairs(PAIRS * 10, tokenizer, 100)
    new_run(tmp_path, config, tokenizer).train(examples, {}, until=6)
    assert read_log(tmp_path)[-1]["step"] == 6
    resumed = new_run(tmp_path, config, tokenizer)
    assert resumed.step == 6
    resumed.train(examples[:7], {})
    rates = {entry["step"]: entry["learning_rate"] for entry in read_log(tmp_path)}
    assert rates[6] == learning_rate(6, decay="linear", warmup=4, d_model=config.d_model, peak=3e-3, total=12)
    assert rates[12] == 0


def test_the_log_of_a_killed_run_says_every_step_once(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    examples = encode_pairs(PAIRS * 10, tokenizer, 100)
    new_run(tmp_path, config, tokenizer).train(examples, {}, until=8)
    with (tmp_path / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps({"step": 9, "learning_rate": 1.0, "loss": 1.0}) + "\n")
        log.write('{"step": 10, "learn')
    new_run(tmp_path, config, tokenizer).train(examples, {})
    steps = [entry["step"] for entry in read_log(tmp_path) if "loss" in entry]
    assert steps == [8, 12]


def test_a_run_killed_while_it_scores_its_dev_sets_scores_them_when_it_goes_on(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(self: TrainingRun, dev: object) -> dict[str, float]:
        raise KeyboardInterrupt

    examples = encode_pairs(PAIRS * 10, tokenizer, 100)
    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_dev_scores", killed)
        with pytest.raises(KeyboardInterrupt):
            new_run(tmp_path, config, tokenizer).train(examples, {"dev": PAIRS[:1]})
    new_run(tmp_path, config, tokenizer).train(examples, {"dev": PAIRS[:1]})
    assert [entry["step"] for entry in read_log(tmp_path) if "loss" not in entry] == [12]


def test_a_new_run_can_start_from_trained_weights_and_a_resumed_one_keeps_its_own(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    trained = Transformer(replace(config, dropout=0.2))
    run = new_run(tmp_path, config, tokenizer)
    run.start_from(trained)
    for (name, ours), (_, theirs) in zip(run.model.named_parameters(), trained.named_parameters(), strict=True):
        assert torch.equal(ours, theirs), name
    run.train(encode_pairs(PAIRS * 10, tokenizer, 100), {}, until=4)
    resumed = new_run(tmp_path, config, tokenizer)
    kept = resumed.model.projection.weight.clone()
    resumed.start_from(trained)
    assert torch.equal(resumed.model.projection.weight, kept)


def test_a_run_does_not_go_on_with_the_moments_of_another_optimizer(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    new_run(tmp_path, config, tokenizer, optimizer="muon").train(encode_pairs(PAIRS, tokenizer, 100), {}, until=4)
    with pytest.raises(DataError, match="another optimizer"):
        new_run(tmp_path, config, tokenizer, optimizer="adam")


@pytest.mark.parametrize("keep", [0, 100, -50])
def test_a_damaged_state_is_said(tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer, keep: int) -> None:
    new_run(tmp_path, config, tokenizer, steps=4).train(encode_pairs(PAIRS * 10, tokenizer, 100), {})
    state = tmp_path / "state.safetensors"
    state.write_bytes(state.read_bytes()[:keep])
    with pytest.raises(DataError, match="damaged"):
        new_run(tmp_path, config, tokenizer)


@pytest.mark.parametrize("until", [2, 6, 8, 10])
def test_a_run_that_was_stopped_anywhere_averages_the_same_weights(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer, until: int
) -> None:
    examples = encode_pairs(PAIRS * 10, tokenizer, 100)
    whole = new_run(tmp_path / "whole", config, tokenizer).train(examples, {})
    new_run(tmp_path / "stopped", config, tokenizer).train(examples, {}, until=until)
    # As if it had been killed after its state was written, and before the weights for averaging.
    (tmp_path / "stopped" / f"weights-{until:08d}.safetensors").unlink(missing_ok=True)
    again = new_run(tmp_path / "stopped", config, tokenizer).train(examples, {})
    for (name, a), (_, b) in zip(whole.named_parameters(), again.named_parameters(), strict=True):
        torch.testing.assert_close(a, b, msg=name)
    names = [[file.name for file in sorted((tmp_path / run).glob("weights-*"))] for run in ("whole", "stopped")]
    assert names[0] == names[1]


def test_a_run_killed_before_its_first_state_begins_with_an_empty_log(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    (tmp_path / "log.jsonl").write_text('{"step": 3, "learning_rate": 1.0, "loss": 1.0}\n', encoding="utf-8")
    (tmp_path / "weights-00000003.safetensors").touch()
    new_run(tmp_path, config, tokenizer).train(encode_pairs(PAIRS * 10, tokenizer, 100), {})
    assert [entry["step"] for entry in read_log(tmp_path) if "loss" in entry] == [12]


@pytest.mark.parametrize("content", [b"", b"not weights", "other"])
def test_damaged_weights_for_averaging_are_said(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer, content: bytes | str
) -> None:
    examples = encode_pairs(PAIRS * 10, tokenizer, 100)
    new_run(tmp_path, config, tokenizer).train(examples, {}, until=8)
    other = save({"model.of_another": torch.zeros(2)})
    (tmp_path / "weights-00000008.safetensors").write_bytes(content if isinstance(content, bytes) else other)
    with pytest.raises(DataError, match=r"weights-00000008.*Delete it"):
        new_run(tmp_path, config, tokenizer).train(examples, {})


@pytest.mark.parametrize("line", ["{", "[]", '{"learning_rate": 1.0}', '{"step": -1}', '{"step": 4, "loss": NaN}'])
def test_a_damaged_line_of_the_log_is_said(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer, line: str
) -> None:
    new_run(tmp_path, config, tokenizer, steps=4).train(encode_pairs(PAIRS * 10, tokenizer, 100), {})
    log = tmp_path / "log.jsonl"
    log.write_text(f"{line}\n{log.read_text(encoding='utf-8')}", encoding="utf-8")
    with pytest.raises(DataError, match=r"Line 1 of .*log\.jsonl is damaged"):
        new_run(tmp_path, config, tokenizer)


def test_a_loss_that_is_no_number_ends_the_run_and_leaves_the_last_state(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    examples = encode_pairs(PAIRS * 10, tokenizer, 100)
    new_run(tmp_path, config, tokenizer).train(examples, {}, until=4)
    run = new_run(tmp_path, config, tokenizer)
    before = {name: parameter.clone() for name, parameter in run.model.named_parameters()}
    run.model.projection.bias = torch.nn.Parameter(torch.full((config.vocab_size,), torch.nan))
    with pytest.raises(DataError, match=r"At step 5 the loss is nan.*--peak 0\.0015"):
        run.train(examples, {})
    again = new_run(tmp_path, config, tokenizer)
    assert again.step == 4
    for name, parameter in again.model.named_parameters():
        assert torch.equal(parameter, before[name])


def test_the_last_states_are_averaged(tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer) -> None:
    run = new_run(tmp_path, config, tokenizer)
    model = run.train(encode_pairs(PAIRS * 10, tokenizer, 100), {})
    from safetensors.torch import load_file

    files = sorted(tmp_path.glob("weights-*.safetensors"))
    assert [file.stem for file in files] == ["weights-00000008", "weights-00000012"]
    states = [load_file(file) for file in files]
    for name, parameter in model.named_parameters():
        mean = (states[0][f"model.{name}"] + states[1][f"model.{name}"]) / 2
        torch.testing.assert_close(parameter.data, mean)


def test_training_learns_a_few_sentences_by_heart(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    settings = replace(
        SETTINGS, steps=150, warmup=25, tokens_per_batch=200, smoothing=0.0, dev_every=150, save_every=150
    )
    run = TrainingRun(tmp_path, replace(config, d_model=64, dropout=0.0), tokenizer, settings, CPU)
    model = run.train(encode_pairs(PAIRS, tokenizer, 100), {"same": PAIRS})
    scores = evaluate(model, tokenizer, PAIRS)
    assert scores.bleu > 90
    assert scores.sentences == 4
    log = read_log(tmp_path)
    assert log[-1]["bleu_same"] > 90
    assert log[0]["loss"] > log[-2]["loss"]
