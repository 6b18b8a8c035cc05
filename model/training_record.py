"""Read how a checkpoint was made, from its folder: training data, log, scores, card.

All four files are optional, and of unknown origin:

    training.json       {"data": [{"name", "pairs", "weight", "what", "licence"}], "settings", "dev_limit", "note"}
    training_log.jsonl  {"step", "learning_rate", "loss", …} and {"step", "bleu_SET", …}, one object a line
    metrics.json        {"entries": [{"command", "result"}]}, results as `python -m model … --json` printed them
    README.md           the card

A reader returns None where its file is absent. A file must be listed in the manifest with its SHA-256 (only a card may
be in a folder without one), lie in the folder (`folder_files`) and be of a limited size, and each value in it must have
the expected type and range; else each reader raises a CheckpointError.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from model import checked
from model.checked import Malformed, Range, Scalar
from model.errors import CheckpointError, said
from model.folder_files import read_as_model, read_file

TRAINING, LOG, METRICS = "training.json", "training_log.jsonl", "metrics.json"
CARD, MANIFEST = "README.md", "manifest.json"
#: What Headlight's own checkpoints read and write, as HTML names languages.
LANGUAGES: Final = ("en", "de")
#: Bytes; a log of 20,000 lines has about two million.
LARGEST: Final = {TRAINING: 200_000, LOG: 4_000_000, METRICS: 1_000_000, CARD: 200_000, MANIFEST: 1_000_000}
MAX_STEPS, MAX_DEV_SETS, MAX_VALUES, MAX_DEPTH = 20_000, 16, 400, 8
BLEU: Final = "bleu_"

POSITIVE: Final[Range] = (said("above 0"), lambda weight: weight > 0)
PERCENT: Final[Range] = (said("from 0 to 100"), lambda value: 0 <= value <= 100)
SCORE_RANGES: Final[Mapping[str, Range]] = {
    "bleu": PERCENT, "chrf": PERCENT, "beam": (said("1 or more"), lambda width: width >= 1),
}  # fmt: skip

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class DataSet:
    """One set of sentence pairs; in an epoch each pair of it comes `weight` times on average."""

    name: str
    pairs: int
    weight: float
    what: str = ""
    licence: str = ""


@dataclass(frozen=True, slots=True)
class Training:
    """What a checkpoint was trained on and how; dev scores in its log are of the first `dev_limit` pairs of a set."""

    data: tuple[DataSet, ...]
    settings: tuple[tuple[str, Scalar], ...]
    dev_limit: int
    note: str


@dataclass(frozen=True, slots=True)
class Curve:
    """One value over the steps at which it was logged, in their order."""

    name: str
    steps: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TrainingLog:
    """Loss and learning rate, and one curve of BLEU for each dev set; a curve may be empty."""

    loss: Curve
    learning_rate: Curve
    bleu: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """BLEU and chrF (0 to 100) of one set, the beam they were decoded with (1: greedy), and how they were measured."""

    command: str
    set: str
    beam: int
    bleu: float
    chrf: float
    signature: str
    sentences: int


@dataclass(frozen=True, slots=True)
class Measurement:
    """Any other result, flattened: `{"frames": {"right": 0.91}}` is the row ("frames · right", 0.91)."""

    command: str
    rows: tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True, slots=True)
class Metrics:
    """Everything measured, in the order of the file."""

    scores: tuple[Score, ...]
    measurements: tuple[Measurement, ...]


def read_training(folder: Path) -> Training | None:
    """What the checkpoint was trained on, if its folder says so."""
    return _read(folder, TRAINING, _training)


def read_log(folder: Path) -> TrainingLog | None:
    """The curves of the training run. Of a step that was logged twice (killed, resumed) the last entry counts."""
    return _read(folder, LOG, _log)


def read_metrics(folder: Path) -> Metrics | None:
    """Everything that was measured with the finished checkpoint."""
    return _read(folder, METRICS, _metrics)


def read_card(folder: Path) -> str | None:
    """The card's text. It may hold anything, HTML and links to pictures included."""
    return _read(folder, CARD, str)


def _read(folder: Path, name: str, parse: Callable[[str], Content]) -> Content | None:
    try:
        with read_as_model(folder, name):
            if not os.path.lexists(folder / name):
                return None
            content = read_file(folder, name, LARGEST[name])
            # Nobody listed the files of a model from elsewhere.
            if name == CARD and not (folder / MANIFEST).exists():
                return parse(content.decode("utf-8"))
            manifest = checked.parsed(read_file(folder, MANIFEST, LARGEST[MANIFEST]).decode("utf-8"), f"{MANIFEST}: ")
        listed = checked.json_object(manifest.get("sha256"), f"{MANIFEST}: sha256")
        if listed.get(name) != hashlib.sha256(content).hexdigest():
            raise Malformed("it is not the file that manifest.json lists; restore it from its source")
        return parse(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        message = "{folder}/{file} cannot be shown: it is not UTF-8 text."
        raise CheckpointError(message, folder=folder.name, file=name) from error
    except Malformed as error:
        message = "{folder}/{file} cannot be shown: {message}."
        raise CheckpointError(message, folder=folder.name, file=name, message=error.message) from error


def _training(text: str) -> Training:
    content = checked.parsed(text)
    settings = checked.json_object(content.get("settings"), "settings")
    return Training(
        data=tuple(
            checked.record(DataSet, row, f"data[{i}]", weight=POSITIVE)
            for i, row in enumerate(checked.rows(content.get("data"), "data"))
        ),
        settings=tuple(
            (checked.text(name, said("a setting's name")), checked.scalar(value, f"settings.{name[:60]}"))
            for name, value in settings.items()
        ),
        dev_limit=checked.count(content.get("dev_limit"), "dev_limit"),
        note=checked.text(content.get("note", ""), "note"),
    )


def _log(text: str) -> TrainingLog:
    values: dict[str, dict[int, float]] = {"loss": {}, "learning_rate": {}}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        entry = checked.parsed(line, said("line {number}: ", number=number))
        step = checked.count(entry.get("step"), f"line {number}: step")
        for name, value in entry.items():
            if name in ("loss", "learning_rate") or name.startswith(BLEU):
                shown = checked.text(name, f"line {number}: a name")[:60]
                values.setdefault(name, {})[step] = checked.number(value, f"line {number}: {shown}")
    if any(len(curve) > MAX_STEPS for curve in values.values()) or len(values) > MAX_DEV_SETS + 2:
        message = "it may contain at most {steps:,} steps and {sets} dev sets"
        raise Malformed(message, steps=MAX_STEPS, sets=MAX_DEV_SETS)
    if not any(values.values()):
        raise Malformed("it contains no loss, no learning rate and no BLEU")
    curves = {name: _curve(name.removeprefix(BLEU), curve) for name, curve in values.items()}
    dev = tuple(curve for name, curve in curves.items() if name.startswith(BLEU))
    return TrainingLog(curves["loss"], curves["learning_rate"], dev)


def _curve(name: str, values: Mapping[int, float]) -> Curve:
    steps = tuple(sorted(values))
    return Curve(name, steps, tuple(values[step] for step in steps))


def _metrics(text: str) -> Metrics:
    scores: list[Score] = []
    measurements: list[Measurement] = []
    for i, value in enumerate(checked.rows(checked.parsed(text).get("entries"), "entries")):
        where = f"entries[{i}]"
        entry = checked.json_object(value, where)
        command = checked.text(entry.get("command"), f"{where}.command")
        result = checked.json_object(entry.get("result"), f"{where}.result")
        if "bleu" in result:
            scores.append(checked.record(Score, {**result, "command": command}, f"{where}.result", **SCORE_RANGES))
        else:
            measurements.append(Measurement(command, _flattened(result, f"{where}.result")))
    return Metrics(tuple(scores), tuple(measurements))


def _flattened(result: Mapping[str, Any], where: str) -> tuple[tuple[str, Scalar], ...]:
    rows: list[tuple[str, Scalar]] = []
    for name, value in _leaves(result, ()):
        what = f"{where}.{name[:60]}"
        rows.append((checked.text(name, what), checked.scalar(value, what)))
        if len(rows) > MAX_VALUES:
            raise Malformed("{where} may contain at most {most} values", where=where, most=MAX_VALUES)
    return tuple(rows)


def _leaves(value: object, path: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    if len(path) > MAX_DEPTH:
        raise Malformed("{path} … is nested more than {most} levels deep", path=" · ".join(path)[:60], most=MAX_DEPTH)
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, (*path, name))
    elif isinstance(value, list):
        for position, inner in enumerate(value, start=1):
            yield from _leaves(inner, (*path, str(position)))
    else:
        yield " · ".join(path), "–" if value is None else value
