"""Keep what was measured of trained ablations as JSON, and sum it up over seeds."""

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from model import checked
from model.checked import Malformed
from model.errors import DataError, said
from model.file_writing import write_text
from model.folder_files import read_as_data, read_file

FORMAT: Final = "headlight-ablations-1"
#: Bytes beyond which a file is refused.
LARGEST: Final = 1 << 20


@dataclass(frozen=True)
class SetScore:
    """BLEU and chrF, 0 to 100, of greedy translations of one dev set, and sacrebleu's signature of how."""

    set: str
    bleu: float
    chrf: float
    sentences: int
    signature: str


@dataclass(frozen=True)
class LengthScore:
    """chrF, 0 to 100, of those sentences of a dev set whose sources have about the same number of words."""

    set: str
    at_least: int  #: words of the shortest source that may be among them
    at_most: int  #: words of the longest that is among them
    sentences: int
    chrf: float


@dataclass(frozen=True)
class RunResult:
    """One trained model."""

    preset: str
    seed: int
    digest: str  #: of its checkpoint
    parameters: int  #: how many it has
    loss: float  #: the last training loss that its log has, in nats
    scores: tuple[SetScore, ...]  #: one for each dev set
    lengths: tuple[LengthScore, ...] = ()  #: of each dev set, by length; none of runs measured without


@dataclass(frozen=True)
class AblationResults:
    """All runs that were measured."""

    runs: tuple[RunResult, ...]  #: in the order of the presets, then of the seeds
    #: preset → source and target tokens that one thread trains on in a second of its processor.
    tokens_per_second: Mapping[str, float]


class Spread(NamedTuple):
    """Mean over seeds, and their standard deviation: NaN for a single one."""

    mean: float
    deviation: float
    runs: int


def over_seeds(values: Sequence[float]) -> Spread:
    """Mean and standard deviation (n − 1) of one value of each seed."""
    deviation = statistics.stdev(values) if len(values) > 1 else math.nan
    return Spread(statistics.fmean(values), deviation, len(values))


def score_of(
    results: AblationResults, preset: str, dev_set: str, measure: Literal["bleu", "chrf"] = "bleu"
) -> Spread | None:
    """BLEU or chrF of a preset's runs on a set; None if none was measured."""
    values = [
        float(getattr(score, measure))
        for run in results.runs
        if run.preset == preset
        for score in run.scores
        if score.set == dev_set
    ]
    return over_seeds(values) if values else None


def differences_from_full(results: AblationResults, preset: str, dev_set: str) -> dict[int, float]:
    """Seed → BLEU of a preset's run on a set, less that of the full model's run of the same seed."""
    bleu = {(run.preset, run.seed): score.bleu for run in results.runs for score in run.scores if score.set == dev_set}
    return {
        seed: round(value - bleu["full", seed], 2)
        for (name, seed), value in bleu.items()
        if name == preset and ("full", seed) in bleu
    }


def dev_sets(results: AblationResults) -> tuple[str, ...]:
    """The sets that were scored."""
    return tuple({score.set: None for run in results.runs for score in run.scores})


def save_results(results: AblationResults, path: str | Path) -> None:
    """Write them as JSON. Raises as `written_path`."""
    path = Path(path)
    content = {
        "format": FORMAT,
        "runs": [asdict(run) for run in results.runs],
        "tokens_per_second": dict(results.tokens_per_second),
    }
    write_text(path, json.dumps(content, indent=1) + "\n", path.parent)


def load_results(path: str | Path) -> AblationResults:
    """Read what `save_results` wrote. Raises a DataError if it is missing, damaged, something else, or too large."""
    path = Path(path)
    missing = DataError("There is no file {path}; `python -m model ablations --data DIR` writes one.", path=path)
    try:
        with read_as_data(path, missing):
            return _results(checked.parsed(read_file(path.parent, path.name, LARGEST).decode("utf-8")))
    except (UnicodeDecodeError, Malformed) as error:
        raise DataError("{name} contains no results of ablations ({error}).", name=path.name, error=error) from error


def run_result(value: object, where: str) -> RunResult:
    """One run, from JSON. Raises `Malformed` where it is none."""
    content = checked.json_object(value, where)
    scores = tuple(
        checked.record(SetScore, score, f"{where}.scores") for score in checked.rows(content.get("scores"), "scores")
    )
    lengths = tuple(
        checked.record(LengthScore, score, f"{where}.lengths")
        for score in checked.rows(content.get("lengths", []), "lengths")
    )
    return RunResult(
        preset=checked.text(content.get("preset"), f"{where}.preset"),
        seed=checked.count(content.get("seed"), f"{where}.seed"),
        digest=checked.text(content.get("digest"), f"{where}.digest"),
        parameters=checked.count(content.get("parameters"), f"{where}.parameters"),
        loss=float(checked.number(content.get("loss"), f"{where}.loss")),
        scores=scores,
        lengths=lengths,
    )


def _results(content: dict[str, Any]) -> AblationResults:
    if content.get("format") != FORMAT:
        raise Malformed("its format is {found!r}, expected {wanted!r}", found=content.get("format"), wanted=FORMAT)
    speeds = checked.json_object(content.get("tokens_per_second"), "tokens_per_second")
    return AblationResults(
        runs=tuple(run_result(run, "a run") for run in checked.rows(content.get("runs"), "runs")),
        tokens_per_second=MappingProxyType(
            {checked.text(name, said("a preset")): float(checked.number(speed, name)) for name, speed in speeds.items()}
        ),
    )
