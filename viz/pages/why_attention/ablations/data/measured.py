"""What was measured of all seeds of the small models: the rows of the table."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from model.errors import DataError
from viz.selection import catalogue
from viz.server.caches import FileState, cached

if TYPE_CHECKING:
    from model.analysis.ablations.results import AblationResults


def results() -> "AblationResults | None":
    """What was measured of all seeds; None where nobody has measured yet.

    Raises:
        DataError: the file is damaged.
    """
    from model.training.ablations import RESULTS

    path = catalogue.experiments_root() / RESULTS
    try:
        return _results(FileState.of(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError("{results} cannot be read: {strerror}.", results=RESULTS, strerror=error.strerror) from error


@cached(max_entries=4)
def _results(file: FileState) -> "AblationResults":
    from model.analysis.ablations.results import load_results

    return load_results(Path(file.path))


@dataclass(frozen=True, slots=True)
class SetResult:
    """What was measured of one model on one set.

    Attributes:
        bleu, chrf: mean and standard deviation over seeds, NaN for one seed.
        differences: seed → BLEU less the full model's of the same seed.
        difference: their mean and standard deviation; None of the full model itself.
    """

    bleu: tuple[float, float]
    chrf: tuple[float, float]
    differences: Mapping[int, float]
    difference: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Row:
    """One model of the table.

    Attributes:
        preset: which.
        runs: how many seeds were measured.
        sets: set → what was measured on it.
        tokens_per_second: in training, of one thread; None where it was not timed.
        claimed, paper: BLEU less a full model's, as is often said, and as Table 3 has it; None where nobody says.
    """

    preset: str
    runs: int
    sets: Mapping[str, SetResult]
    tokens_per_second: float | None
    claimed: float | None
    paper: float | None


def rows(results: "AblationResults") -> tuple[Row, ...]:
    """A row for each model that was measured, in the order of the presets."""
    from model.analysis.ablations import results as summed
    from model.analysis.ablations.table import OFTEN_CLAIMED, paper_difference
    from model.training.ablations import ABLATIONS

    table = []
    for preset in ABLATIONS:
        sets = {}
        for name in summed.dev_sets(results):
            bleu, chrf = summed.bleu_of(results, preset, name), summed.chrf_of(results, preset, name)
            if bleu is None or chrf is None:
                continue
            differences = {} if preset == "full" else summed.differences_from_full(results, preset, name)
            spread = summed.over_seeds(list(differences.values()))[:2] if differences else None
            sets[name] = SetResult(bleu[:2], chrf[:2], differences, spread)
        if sets:
            runs = len({run.seed for run in results.runs if run.preset == preset})
            speed = results.tokens_per_second.get(preset)
            table.append(Row(preset, runs, sets, speed, OFTEN_CLAIMED.get(preset), paper_difference(preset)))
    return tuple(table)
