"""Lay one trained model of each ablation into a folder, with its card, and the results of all seeds beside them."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from model.analysis.ablations.results import AblationResults, RunResult, bleu_of, save_results
from model.analysis.ablations.table import ablations_report
from model.checkpoint import CARD, CONFIG, LARGEST, LARGEST_OTHER, TOKENIZER, WEIGHTS, write_manifest
from model.errors import DataError
from model.file_writing import make_folder, write_bytes, write_text
from model.folder_files import read_file
from model.training.ablations import ABLATIONS, FILM, RESULTS, Preset
from model.training_record import LOG, METRICS, TRAINING

#: Data set → what it is, and the licence stated at its source.
DATA: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
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
    seeds as JSON and a card of its own.

    Raises:
        DataError: no run of this seed was measured.
    """
    released = [run for run in results.runs if run.seed == seed]
    if not released:
        raise DataError(
            "No run of seed {seed} was measured; train one with "
            "`python -m model train --preset full --seed {seed} --data DIR`.",
            seed=seed,
        )
    for run in released:
        _release_run(runs / f"{run.preset}-{seed}" / "checkpoint", results, run, out / run.preset)
    film = runs / f"full-{seed}" / FILM
    if film.is_file():
        write_bytes(out / FILM, film.read_bytes())
    save_results(results, out / RESULTS)
    write_text(out / CARD, _card_of_all(results, seed))
    return [run.preset for run in released]


def _release_run(checkpoint: Path, results: AblationResults, run: RunResult, out: Path) -> None:
    make_folder(out)
    for name in (CONFIG, WEIGHTS, TOKENIZER, LOG):
        write_bytes(out / name, read_file(checkpoint, name, LARGEST.get(name, LARGEST_OTHER)))
    training: dict[str, Any] = json.loads(read_file(checkpoint, TRAINING, LARGEST_OTHER))
    for row in training["data"]:
        row["what"], row["licence"] = DATA.get(row["name"], ("", ""))
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
        write_text(out / name, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    write_text(out / CARD, _card(ABLATIONS[run.preset], results, run))
    write_manifest(out)


def _card(preset: Preset, results: AblationResults, run: RunResult) -> str:
    scores = [
        f"| {score.set} | {score.bleu:.1f} | {score.chrf:.1f} | {_over_seeds(results, run.preset, score.set)} |"
        for score in run.scores
    ]
    return "\n".join(
        [
            "---",
            "language: [en, de]",
            "license: other",
            "---",
            f"# {run.preset}: {preset.what}",
            "",
            f"One of {len(ABLATIONS)} small translators, English → German, to compare: an experiment "
            f"on what a part is worth, with {run.parameters:,} parameters in 16 bit. All of them, their table "
            "and the commands are in [the card of the experiments](../README.md).",
            "",
            "| set | BLEU, greedy | chrF | BLEU of all seeds, mean ± standard deviation |",
            "|---|---|---|---|",
            *scores,
            "",
            f"Trained with `python -m model train --preset {run.preset} --seed {run.seed} --data DIR`; "
            f"the last training loss was {run.loss:.2f} nats.",
            "",
            "## What to expect",
            "",
            "Wrong translations. It has seen five million tokens, everyday sentences and image captions, in a few "
            "minutes of one core; it is here to be compared with the others, and to be looked into.",
            "",
            "It reads at most 128 tokens.",
            "",
        ]
    )


def _over_seeds(results: AblationResults, preset: str, dev_set: str) -> str:
    spread = bleu_of(results, preset, dev_set)
    if spread is None or spread.runs < 2:
        return "–"
    return f"{spread.mean:.1f} ± {spread.deviation:.1f} ({spread.runs} seeds)"


def _card_of_all(results: AblationResults, seed: int) -> str:
    presets = [preset for preset in ABLATIONS if any(run.preset == preset for run in results.runs)]
    settings, sizes = ABLATIONS["full"].settings, [run.parameters for run in results.runs]
    sets = [f"| {name} | {what} | {licence} |" for name, (what, licence) in DATA.items()]
    models = [f"| [{name}]({name}) | {ABLATIONS[name].what} |" for name in presets]
    return "\n".join(
        [
            "# Experiments: small translators to compare",
            "",
            f"English → German, {min(sizes):,} to {max(sizes):,} parameters. All are trained on the same batches for "
            f"{settings.steps:,} steps of at most {settings.tokens_per_batch:,} padded tokens a side, with the same "
            f"vocabulary and schedule, from the same seeds. Each differs from *full* in the part that its name says "
            f"(*unscaled* in the number of heads, too). Seed {seed} of each is here. "
            "They show what a part is worth in a small model and a short training, no more.",
            "",
            "| model | what it is |",
            "|---|---|",
            *models,
            "",
            "## Trained on",
            "",
            "| set | what it is | licence stated at its source |",
            "|---|---|---|",
            *sets,
            "",
            "## What each part is worth",
            "",
            "```",
            ablations_report(results),
            "```",
            "",
            "## The commands",
            "",
            "DIR is a folder with `train/tatoeba.tsv.xz`, `train/multi30k.tsv.xz`, `dev/tatoeba_dev.tsv.xz` and "
            "`dev/multi30k_val.tsv.xz`, one `English TAB German` pair a line.",
            "",
            "```sh",
            f"python -m model train --preset full --seed 0 --data DIR --film runs/ablations/full-0/{FILM}",
            "python -m model train --preset no-positions --seed 0 --data DIR   # and so on: each preset, seeds 0, 1, 2",
            "python -m model ablations --data DIR --out checkpoints/experiments",
            "python -m model claims > checkpoints/experiments/claims.txt",
            "```",
            "",
            f"`{FILM}` holds what the full model attended to at 30 steps of its training, `{RESULTS}` the scores of "
            "every seed, `claims.txt` what score functions and the layers of Table 1 cost on the machine that trained.",
            "",
        ]
    )
