"""Score trained ablations on dev sets, time their training, and lay one model of each into a folder with its card."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import sacrebleu
import torch

from model import checked
from model.analysis.ablations.results import (
    LARGEST,
    AblationResults,
    LengthScore,
    RunResult,
    SetScore,
    run_result,
    save_results,
    score_of,
)
from model.analysis.ablations.table import ablations_report
from model.checkpoint import (
    CARD,
    CONFIG,
    LARGEST_OTHER,
    TOKENIZER,
    WEIGHTS,
    Checkpoint,
    load_checkpoint,
    write_manifest,
)
from model.checkpoint import LARGEST as LARGEST_FILES
from model.errors import CheckpointError, DataError
from model.evaluation import evaluate
from model.file_writing import make_folder, write_bytes, write_text
from model.folder_files import read_file
from model.nn.architectures import new_model
from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.ablations import ABLATIONS, FILM, RESULTS, Preset
from model.training.batches import encode_pairs, endless_batches
from model.training.loop import read_log
from model.training.objective import Objective
from model.training_record import LOG, METRICS, TRAINING

#: What a run's folder keeps of its scores, so that a model is translated with once.
SCORES: Final = "scores.json"
#: Training steps that are timed, after some that are not.
WARM_UP: Final = 2
TIMED: Final = 8
#: Words of the shortest source of each group whose chrF is measured by length.
LENGTHS: Final = (1, 7, 11, 16, 21)
Progress = Callable[[str], object]


def measure_runs(
    runs: Path, dev: Mapping[str, Sequence[Pair]], device: torch.device, progress: Progress
) -> AblationResults:
    """Score every finished run below a folder, and time a few training steps of each preset that has one.

    Args:
        runs: holds PRESET-SEED/checkpoint for each.
        dev: sets to translate, greedily.
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
    scores: list[SetScore] = []
    lengths: list[LengthScore] = []
    for name, pairs in dev.items():
        outputs: list[str] = []
        measured = evaluate(checkpoint.model, checkpoint.tokenizer, pairs, collect=outputs.append)
        lengths += by_length(name, pairs, outputs)
        scores.append(SetScore(name, measured.bleu, measured.chrf, measured.sentences, measured.signature))
    result = RunResult(
        preset=preset,
        seed=seed,
        digest=checkpoint.digest,
        parameters=sum(parameter.numel() for parameter in checkpoint.model.parameters()),
        loss=round([entry["loss"] for entry in read_log(folder) if "loss" in entry][-1], 4),
        scores=tuple(scores),
        lengths=tuple(lengths),
    )
    write_text(folder / SCORES, json.dumps(asdict(result), indent=1) + "\n", folder)
    return result


def by_length(dev_set: str, pairs: Sequence[Pair], outputs: Sequence[str]) -> list[LengthScore]:
    """chrF of the translations of a set, shortest sources first; a group without a sentence is left out."""
    counts, found = [len(pair.source.split()) for pair in pairs], []
    for least, beyond in zip(LENGTHS, (*LENGTHS[1:], inf), strict=True):
        chosen = [index for index, count in enumerate(counts) if least <= count < beyond]
        if chosen:
            references = [[pairs[index].target for index in chosen]]
            chrf = sacrebleu.CHRF().corpus_score([outputs[index] for index in chosen], references).score
            most = max(counts[index] for index in chosen)
            found.append(LengthScore(dev_set, least, most, len(chosen), round(chrf, 2)))
    return found


def _kept(folder: Path) -> RunResult | None:
    """What was measured of this run before; None if nothing was, or the file is none of ours."""
    try:
        return run_result(checked.parsed(read_file(folder, SCORES, LARGEST).decode("utf-8")), SCORES)
    except (OSError, CheckpointError, UnicodeDecodeError, checked.Malformed):
        return None


#: Data set → what it is, and the licence stated at its source.
DATA_SETS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "tatoeba": ("everyday sentences (Tatoeba, dump of 2018-05-13, by way of manythings.org)", "CC-BY 2.0"),
        "multi30k": ("image captions (Multi30k, task 1, training part)", "none stated for the text"),
    }
)
#: File name of a dev set below the folder with the data.
_DEV_FILE: Final = "DIR/dev/{}.tsv.xz"


def release(runs: Path, results: AblationResults, out: Path, seed: int = 0) -> list[str]:
    """Copy the finished runs of one seed to OUT/PRESET, with the film of the full model; return the presets' names.

    Each folder is a checkpoint with `training.json`, its log, `metrics.json` and a card. OUT gets the results of all
    seeds as JSON and a card of its own. Raises a DataError if no run of this seed was measured.
    """
    released = [run for run in results.runs if run.seed == seed]
    if not released:
        raise DataError(
            "No run with seed {seed} has been measured; train one with `python -m model train --preset full --seed "
            "{seed} --data DIR`.",
            seed=seed,
        )
    for run in released:
        make_folder(out / run.preset, out)
        _release_run(runs / f"{run.preset}-{seed}" / "checkpoint", results, run, out / run.preset)
    film = runs / f"full-{seed}" / FILM
    if film.is_file():
        write_bytes(out / FILM, film.read_bytes(), out)
    save_results(results, out / RESULTS)
    write_text(out / CARD, _card_of_all(results, seed), out)
    return [run.preset for run in released]


def _release_run(checkpoint: Path, results: AblationResults, run: RunResult, out: Path) -> None:
    for name in (CONFIG, WEIGHTS, TOKENIZER, LOG):
        write_bytes(out / name, read_file(checkpoint, name, LARGEST_FILES.get(name, LARGEST_OTHER)), out)
    training: dict[str, Any] = json.loads(read_file(checkpoint, TRAINING, LARGEST_OTHER))
    for row in training["data"]:
        row["what"], row["licence"] = DATA_SETS.get(row["name"], ("", ""))
    training["note"] = (
        f"An experiment: {ABLATIONS[run.preset].what}. One of {len(ABLATIONS)} small translators to compare."
    )
    entries = [
        {
            "command": f"python -m model evaluate --data {_DEV_FILE.format(score.set)} "
            f"--checkpoint checkpoints/experiments/{run.preset} --json",
            "result": {**asdict(score), "beam": 1},
        }
        for score in run.scores
    ]
    for name, content in ((TRAINING, training), (METRICS, {"entries": entries})):
        write_text(out / name, json.dumps(content, indent=1, ensure_ascii=False) + "\n", out)
    write_text(out / CARD, _card(ABLATIONS[run.preset], results, run, training["settings"]["bf16"]), out)
    write_manifest(out)


def _filled(template: str, **values: object) -> str:
    """A template that lies beside this module, with these values."""
    return Path(__file__).with_name(template).read_text(encoding="utf-8").format(**values)


def _card(preset: Preset, results: AblationResults, run: RunResult, is_bf16: bool) -> str:
    scores = [
        f"| {score.set} | {score.bleu:.1f} | {score.chrf:.1f} | {_over_seeds(results, run.preset, score.set)} |"
        for score in run.scores
    ]
    told = {"what": preset.what, "count": len(ABLATIONS), "products": "bfloat16" if is_bf16 else "float32"}
    return _filled("card.md", **told, **{**asdict(run), "scores": "\n".join(scores)})


def _over_seeds(results: AblationResults, preset: str, dev_set: str) -> str:
    spread = score_of(results, preset, dev_set)
    if spread is None or spread.runs < 2:
        return "–"
    return f"{spread.mean:.1f} ± {spread.deviation:.1f} ({spread.runs} seeds)"


def _card_of_all(results: AblationResults, seed: int) -> str:
    presets = [preset for preset in ABLATIONS if any(run.preset == preset for run in results.runs)]
    settings, sizes = ABLATIONS["full"].settings, [run.parameters for run in results.runs]
    sets = [f"| {name} | {what} | {licence} |" for name, (what, licence) in DATA_SETS.items()]
    models = [f"| [{name}]({name}) | {ABLATIONS[name].what} |" for name in presets]
    return _filled(
        "card_of_all.md",
        smallest=min(sizes),
        largest=max(sizes),
        steps=settings.steps,
        tokens=settings.tokens_per_batch,
        seed=seed,
        models="\n".join(models),
        sets="\n".join(sets),
        report=ablations_report(results),
        film=FILM,
        results=RESULTS,
    )
