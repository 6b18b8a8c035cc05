"""Heads measured on pronouns, and heads switched off, as tables.

CSV as `viz.ui.trace_tables` writes it. Layers, heads and rows count from 0; with rollout, where heads are averaged, the
head is empty. Knows nothing of Streamlit or of how the numbers are computed.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from viz.ui.trace_tables import Row, cell, table

if TYPE_CHECKING:
    from model.analysis.coreference.measure_translator import CoreferenceScores
    from model.analysis.interventions.head_effects import HeadEffects
    from model.analysis.interventions.patching import Patching
    from model.analysis.metrics.bootstrap import Estimate
    from model.analysis.metrics.head_names import HeadName


def heads(scores: "CoreferenceScores") -> bytes:
    """A row for each head of each site: accuracies and margin with the ends of their 95 % intervals."""
    figures = ("accuracy", "margin", "strongest_word", "reverse")
    titles = [f"{name}{end}" for name in figures for end in ("", "_low", "_high")]
    return table(("site", "layer", "head", "rows", *titles), _head_rows(scores))


def _head_rows(scores: "CoreferenceScores") -> Iterator[Row]:
    for name, site in scores.sites.items():
        layers, count = site.accuracy.value.shape
        estimates = (site.accuracy, site.margin, site.strongest_word, site.reverse)
        for layer in range(layers):
            for head in range(count):
                numbers = [number for one in estimates for number in _ends(one, layer, head)]
                yield name, layer, "" if scores.measure == "rollout" else head, len(site.cases), *numbers


def rows(scores: "CoreferenceScores") -> bytes:
    """A row for each sentence, site and head: the weight on either candidate."""
    titles = (
        "site", "row", "id", "pair", "group", "sentence", "pronoun", "antecedent", "distractor", "layer", "head",
        "weight_on_antecedent", "weight_on_distractor",
    )  # fmt: skip
    return table(titles, _case_rows(scores))


def _case_rows(scores: "CoreferenceScores") -> Iterator[Row]:
    for name, site in scores.sites.items():
        weights = site.weights.to.tolist()
        for number, case in enumerate(site.cases):
            words = (cell(case.sentence[slice(*span)]) for span in case.spans)
            about = (name, number, cell(case.name), cell(case.pair), cell(case.group), cell(case.sentence), *words)
            for layer, of_layer in enumerate(weights[number]):
                # The last is the mean of the layer's heads.
                for head, (right, wrong) in enumerate(of_layer[:-1]):
                    yield *about, layer, "" if scores.measure == "rollout" else head, repr(right), repr(wrong)


def contrast(scores: "CoreferenceScores") -> bytes:
    """A row for each sentence with German to choose from: how far the model prefers the right one, in nats."""
    found = scores.contrast
    lines = (
        (cell(case.name), cell(case.sentence), cell(case.german.right), cell(case.german.wrong), repr(margin))
        for case, margin in (zip(found.cases, found.margins.tolist(), strict=True) if found else ())
        if case.german is not None
    )
    return table(("id", "sentence", "right", "wrong", "margin_nats"), lines)


def effects(measured: "HeadEffects", estimated: "HeadEffects", places: "tuple[HeadName, ...]") -> bytes:
    """A row for each head: what switching it off changes, measured and estimated, in nats."""
    titles = (
        "site", "layer", "head", "mean_change", "importance", "accuracy_change", "estimated_mean_change",
        "estimated_importance",
    )  # fmt: skip
    columns = (
        measured.mean_changes, measured.importance, measured.accuracy_changes, estimated.mean_changes,
        estimated.importance,
    )  # fmt: skip
    numbers = zip(*(column.flatten().tolist() for column in columns), strict=True)
    return table(titles, ((*place, *map(repr, line)) for place, line in zip(places, numbers, strict=True)))


def patching(found: "Patching", places: "tuple[HeadName, ...]") -> bytes:
    """A row for each head: how far its output of B turns A into B (1), over all pairs."""
    values = found.overall.flatten().tolist()
    lines = ((*place, repr(value)) for place, value in zip(places, values, strict=True))
    return table(("site", "layer", "head", "share_of_the_way_to_b"), lines)


def _ends(estimate: "Estimate | None", layer: int, head: int) -> tuple[str, str, str]:
    if estimate is None:
        return "", "", ""
    value, low, high = estimate.at(layer, head)
    return repr(value), repr(low), repr(high)
