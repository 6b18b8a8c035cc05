"""Lay one trained model of each ablation into a folder, with its card, and the results of all seeds beside them."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from model.analysis.ablations.results import AblationResults, RunResult, save_results, score_of
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
    seeds as JSON and a card of its own. Raises a DataError if no run of this seed was measured.
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


def _filled(template: str, **values: object) -> str:
    """A template that lies beside this module, with these values."""
    return Path(__file__).with_name(template).read_text(encoding="utf-8").format(**values)


def _card(preset: Preset, results: AblationResults, run: RunResult) -> str:
    scores = [
        f"| {score.set} | {score.bleu:.1f} | {score.chrf:.1f} | {_over_seeds(results, run.preset, score.set)} |"
        for score in run.scores
    ]
    return _filled("card.md", what=preset.what, count=len(ABLATIONS), **{**asdict(run), "scores": "\n".join(scores)})


def _over_seeds(results: AblationResults, preset: str, dev_set: str) -> str:
    spread = score_of(results, preset, dev_set)
    if spread is None or spread.runs < 2:
        return "–"
    return f"{spread.mean:.1f} ± {spread.deviation:.1f} ({spread.runs} seeds)"


def _card_of_all(results: AblationResults, seed: int) -> str:
    presets = [preset for preset in ABLATIONS if any(run.preset == preset for run in results.runs)]
    settings, sizes = ABLATIONS["full"].settings, [run.parameters for run in results.runs]
    sets = [f"| {name} | {what} | {licence} |" for name, (what, licence) in DATA.items()]
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
