"""The small models that lack a part: what they write beside the full one, and how they scored over their seeds."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from model import Translator, later
from model.analysis.ablations.results import AblationResults, dev_sets, load_results, score_of
from model.errors import DataError
from viz.access import models, traces
from viz.pages.learn.lessons.data.outputs import differing
from viz.pages.learn.lessons.data.shipped import PRESETS
from viz.pages.learn.lessons.pictures import Bars, FullPage, Rows, View
from viz.selection import catalogue
from viz.selection.model_choice import ModelChoice
from viz.server.caches import FileState, cached
from viz.text.html import Column, Marked
from viz.text.messages import Message, said

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model.analysis.ablations.table import Reading
    from viz.pages.learn.lessons.data.shipped import Shipped

#: Characters of a translation without an end that are shown.
_LONGEST = 160
#: How a model stands beside the full one; None where fewer than two seeds were measured.
_READINGS: "Final[Mapping[Reading | None, Message]]" = {
    "worse": said("worse"),
    "better": said("better"),
    "not told apart": said("within seed noise"),
    None: said("one seed"),
}


def experiment(shipped: "Shipped", preset: str) -> Translator:
    """One of the small models. Raises a CheckpointError where it is not there."""
    return models.translator(ModelChoice(f"{catalogue.EXPERIMENTS}/{preset}", shipped.choice.device))


def through(shipped: "Shipped", *, text: str, presets: list[str]) -> View:
    """One sentence through several small models, the first of which the others are compared with."""
    written = [traces.trace(experiment(shipped, preset), text).translation for preset in presets]
    shown = [one if len(one) <= _LONGEST else f"{one[:_LONGEST]} …" for one in written]
    found: dict[str, float | str] = {"same": sum(one == written[0] for one in written[1:])}
    for preset, own in zip(presets, shown, strict=True):
        found |= {preset.replace("-", "_"): own or said("nothing")}
    texts: list[str | Marked] = [shown[0], *(differing(shown[0], other) for other in shown[1:])]
    rows = tuple((PRESETS[preset], own) for preset, own in zip(presets, texts, strict=True))
    picture = Rows((Column(said("small model")), Column(said("German"), language="de")), rows)
    caption = said(
        "Small models, each trained in the same way for 2,000 steps; differences from the first are marked. All with "
        "seed 0."
    )
    choices = {"text": text, "paper_tab": "Ablations", "ablations": tuple(presets), "ablations_chosen": True}
    return View(picture, found, caption, FullPage("paper", choices))


def bleu(shipped: "Shipped", *, presets: list[str], dev_set: str) -> View:
    """BLEU of small models on one set: mean and standard deviation over their seeds."""
    measured = results()
    sets = dev_sets(measured)
    found: dict[str, float | str] = {}
    means, deviations = [], []
    for preset in presets:
        spread = score_of(measured, preset, dev_set)
        if spread is None:
            raise _not_measured(preset, dev_set)
        means.append(spread.mean)
        deviations.append(spread.deviation)
        name = preset.replace("-", "_")
        found |= {name: spread.mean, f"{name}_deviation": spread.deviation, "seeds": spread.runs}
        found |= {} if (paper := later.ablations_table.paper_difference(preset)) is None else {f"{name}_paper": paper}
        found |= {
            f"{name}_less": spread.mean - means[0],
            f"{name}_told": later.ablations_table.told_apart(measured, preset, sets) or "",
        }
    order = np.argsort(means)
    found |= {"best": PRESETS[presets[order[-1]]], "worst": PRESETS[presets[order[0]]]}
    picture = Bars(
        labels=[PRESETS[preset] for preset in presets], series={"BLEU": np.array(means)},
        number=said("BLEU on {dev_set}", dev_set=dev_set), digits=1, spread=np.array(deviations), marked=0,
    )  # fmt: skip
    caption = said(
        "Mean over {seeds} seeds each, with the standard deviation. The marked model is the one the others are "
        "compared with.",
        seeds=found["seeds"],
    )
    choices = {"paper_tab": "Ablations", "ablations": tuple(presets), "ablations_chosen": True}
    return View(picture, found, caption, FullPage("paper", choices))


def differences(shipped: "Shipped", *, presets: list[str]) -> View:
    """BLEU less the full model's, here and in the paper's Table 3, and whether the seeds tell it apart."""
    measured = results()
    sets = dev_sets(measured)
    rows, found, agree = [], dict[str, float | str](), 0
    for preset in presets:
        pairs = [(score_of(measured, preset, name), score_of(measured, "full", name)) for name in sets]
        less = [own.mean - full.mean for own, full in pairs if own is not None and full is not None]
        paper, told = (
            later.ablations_table.paper_difference(preset),
            later.ablations_table.told_apart(measured, preset, sets),
        )
        name = preset.replace("-", "_")
        found |= {f"{name}_told": told or ""} | {f"{name}_less_{i}": value for i, value in enumerate(less, 1)}
        found |= {} if paper is None else {f"{name}_paper": paper}
        agree += paper is not None and told != "not told apart" and all(value * paper > 0 for value in less)
        rows.append((PRESETS[preset], *(f"{value:+.1f}" for value in less), _READINGS[told], _of_table(paper)))
    kinds = [found[f"{preset.replace('-', '_')}_told"] for preset in presets]
    found |= {"presets": len(presets), "agree": agree, "not_told": kinds.count("not told apart")}
    found |= {"better": kinds.count("better"), "worse": kinds.count("worse")}
    columns = (
        Column(said("small model")), *(Column(name, is_number=True) for name in sets),
        Column(said("compared with the full model")),
        Column(said("Table 3"), is_number=True),
    )  # fmt: skip
    caption = said(
        "BLEU minus the full model. A difference counts if on every set it is larger than both standard deviations "
        "together."
    )
    choices = {"paper_tab": "Ablations", "ablations": tuple(presets), "ablations_chosen": True}
    return View(Rows(columns, tuple(rows)), found, caption, FullPage("paper", choices))


def results() -> AblationResults:
    """What was measured of all seeds. Raises a DataError where nobody has measured, or the file is damaged."""
    path = catalogue.experiments_root() / later.ablations.RESULTS
    try:
        return _results(FileState.of(path))
    except OSError as error:
        raise DataError(
            "There are no results of ablations ({results}) for the small models.", results=later.ablations.RESULTS
        ) from error


@cached(max_entries=4)
def _results(file: FileState) -> AblationResults:
    return load_results(Path(file.path))


def _of_table(difference: float | None) -> str:
    """What Table 3 has for a model, as a cell."""
    return said("no such row") if difference is None else f"{difference:+.1f}"


def _not_measured(preset: str, dev_set: str) -> DataError:
    return DataError("The results of ablations lack the model {preset!r} on {dev_set}.", preset=preset, dev_set=dev_set)
