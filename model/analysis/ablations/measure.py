"""Score trained ablations on dev sets, and time their training."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Final

import torch

from model import checked
from model.analysis.ablations.results import LARGEST, AblationResults, RunResult, SetScore, run_result
from model.checkpoint import Checkpoint, load_checkpoint
from model.errors import CheckpointError, DataError
from model.evaluation import evaluate
from model.file_writing import write_text
from model.folder_files import read_file
from model.nn.architectures import new_model
from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.ablations import ABLATIONS, Preset
from model.training.batches import encode_pairs, endless_batches
from model.training.objective import Objective
from model.training.run_files import read_log

#: What a run's folder keeps of its scores, so that a model is translated with once.
SCORES: Final = "scores.json"
#: Training steps that are timed, after some that are not.
WARM_UP: Final = 2
TIMED: Final = 8
Progress = Callable[[str], object]


def measure_runs(
    runs: Path, dev: Mapping[str, Sequence[Pair]], device: torch.device, progress: Progress = lambda done: None
) -> AblationResults:
    """Score every finished run below a folder, and time a few training steps of each preset that has one.

    Args:
        runs: holds PRESET-SEED/checkpoint for each.
        dev: sets to translate, greedily.
        device: of the models.
        progress: told what has been measured.

    Raises:
        DataError: no run has finished.
        CheckpointError: a checkpoint is damaged.
    """
    finished = [
        (preset, seed, folder)
        for preset in ABLATIONS
        for seed, folder in sorted(
            (int(folder.name.removeprefix(f"{preset}-")), folder)
            for folder in runs.glob(f"{preset}-*")
            if folder.name.removeprefix(f"{preset}-").isdecimal() and (folder / "checkpoint" / "manifest.json").exists()
        )
    ]
    if not finished:
        message = "{runs} contains no finished run; train one with `python -m model train --preset full --data DIR`."
        raise DataError(message, runs=runs)
    results, speeds = [], {}
    for preset, seed, folder in finished:
        checkpoint = load_checkpoint(folder / "checkpoint", device)
        results.append(_scored(preset, seed, folder, checkpoint, dev))
        if preset not in speeds:
            pairs = [pair for pairs in dev.values() for pair in pairs]
            speeds[preset] = training_speed(ABLATIONS[preset], checkpoint.tokenizer, pairs, device)
        progress(f"{preset}, seed {seed}")
    return AblationResults(tuple(results), speeds)


def training_speed(preset: Preset, tokenizer: Tokenizer, pairs: Sequence[Pair], device: torch.device) -> float:
    """Source and target tokens that one thread trains on in a second of processor time, whoever else computes."""
    torch.manual_seed(0)
    model = new_model(preset.config).to(device).train()
    settings = preset.settings
    objective = Objective(model, settings.smoothing, settings.emphasis, (), bf16=settings.bf16)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.peak, fused=True)
    batches = endless_batches(encode_pairs(pairs, tokenizer, 100), preset.config, settings.tokens_per_batch, seed=0)
    tokens, started = 0, 0.0
    for step, batch in enumerate(islice(batches, WARM_UP + TIMED)):
        if step == WARM_UP:
            tokens, started = 0, time.process_time()
        loss = objective(*(ids.to(device) for ids in (batch.source, batch.target_in, batch.target_out)))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        optimizer.step()
        tokens += batch.num_tokens
    return round(tokens / (time.process_time() - started), 1)


def _scored(
    preset: str, seed: int, folder: Path, checkpoint: Checkpoint, dev: Mapping[str, Sequence[Pair]]
) -> RunResult:
    kept = _kept(folder)
    wanted = (checkpoint.digest, {name: len(pairs) for name, pairs in dev.items()})
    if kept is not None and (kept.digest, {score.set: score.sentences for score in kept.scores}) == wanted:
        return kept
    scores = []
    for name, pairs in dev.items():
        measured = evaluate(checkpoint.model, checkpoint.tokenizer, pairs)
        scores.append(SetScore(name, measured.bleu, measured.chrf, measured.sentences, measured.signature))
    result = RunResult(
        preset=preset,
        seed=seed,
        digest=checkpoint.digest,
        parameters=sum(parameter.numel() for parameter in checkpoint.model.parameters()),
        loss=round([entry["loss"] for entry in read_log(folder) if "loss" in entry][-1], 4),
        scores=tuple(scores),
    )
    write_text(folder / SCORES, json.dumps(asdict(result), indent=1) + "\n")
    return result


def _kept(folder: Path) -> RunResult | None:
    """What was measured of this run before; None if nothing was, or the file is none of ours."""
    try:
        return run_result(checked.parsed(read_file(folder, SCORES, LARGEST).decode("utf-8")), SCORES)
    except (OSError, CheckpointError, UnicodeDecodeError, checked.Malformed):
        return None
