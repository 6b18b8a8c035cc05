"""A pair, heads measured on pronouns, distances of two models: CSV of `viz.ui.trace_tables`. A rollout has no head."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from viz.text.written import head_label
from viz.ui.trace_tables import Row, cell, digits, table

if TYPE_CHECKING:
    from model.analysis.coreference.measure import ContrastScores, CoreferenceScores
    from model.analysis.metrics.estimates import Estimate
    from model.analysis.metrics.head_names import HeadName
    from model.analysis.two_models import HeadDistances
    from viz.pages.coreference import data


def movements(
    values: Float[np.ndarray, "layer head"], parts: Float[np.ndarray, "layer head sentence candidate"]
) -> bytes:
    """A row for each head: what its pronouns' rows give to antecedent and distractor, and how far it moves."""
    layers, heads = values.shape
    flat = digits(np.concatenate([parts.reshape(layers * heads, -1), values.reshape(-1, 1)], axis=1))
    titles = ("antecedent_a", "distractor_a", "antecedent_b", "distractor_b", "movement")
    indices = np.ndindex(layers, heads)
    rows = ((layer, head if heads > 1 else "", *row) for (layer, head), row in zip(indices, flat, strict=True))
    return table(("layer", "head", *titles), rows)


def pair_rows(layer: int, sides: "Sequence[data.Row]") -> bytes:
    """A row for each sentence, head and key: what the head gives it, and the role that it plays."""
    return table(("sentence", "layer", "head", "key_position", "key", "role", "value"), _pair_rows(layer, sides))


def _pair_rows(layer: int, sides: "Sequence[data.Row]") -> Iterator[Row]:
    for sentence, side in zip("AB", sides, strict=True):
        role_of = {column: role for role, columns in side.marked.items() for column in columns}
        for head, numbers in enumerate(digits(side.values)):
            name = head if len(side.values) > 1 else ""
            for position, (label, number) in enumerate(zip(side.labels, numbers, strict=True)):
                yield sentence, layer, name, position, cell(label), role_of.get(position, ""), number


def heads(scores: "CoreferenceScores") -> bytes:
    """A row for each head of each site: accuracies and margin with the ends of their 95 % intervals."""
    metrics = ("accuracy", "margin", "strongest_word", "reverse")
    titles = [f"{name}{end}" for name in metrics for end in ("", "_low", "_high")]
    return table(("site", "layer", "head", "rows", *titles), _head_rows(scores))


def _head_rows(scores: "CoreferenceScores") -> Iterator[Row]:
    for name, site in scores.sites.items():
        layers, count = site.accuracy.value.shape
        estimates = (site.accuracy, site.margin, site.strongest_word, site.reverse)
        for layer in range(layers):
            for head in range(count):
                numbers = [number for estimate in estimates for number in _ends(estimate, layer, head)]
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


def contrast(scores: "ContrastScores") -> bytes:
    """A row for each sentence with German to choose from: how far the model prefers the right one, in nats."""
    lines = (
        (cell(case.name), cell(case.sentence), cell(case.german.right), cell(case.german.wrong), repr(margin))
        for case, margin in zip(scores.cases, scores.margins.tolist(), strict=True)
        if case.german is not None
    )
    return table(("id", "sentence", "right", "wrong", "margin_nats"), lines)


def _ends(estimate: "Estimate | None", layer: int, head: int) -> tuple[str, str, str]:
    if estimate is None:
        return "", "", ""
    value, low, high = estimate.at(layer, head)
    return repr(value), repr(low), repr(high)


def distances(found: "HeadDistances") -> bytes:
    """Every distance, in bits; heads are named as on pages."""
    rows, columns = ([head_label(head.layer, head.head) for head in heads] for heads in (found.first, found.second))
    numbers = digits(found.distances.numpy())
    return table(("head of layer", *columns), ((name, *line) for name, line in zip(rows, numbers, strict=True)))


def heads_and(heads: "Sequence[HeadName]", metrics: "Mapping[str, Float[np.ndarray, 'head']]") -> bytes:
    """A row for each head and a column for each of these metrics, by their names in English; NaN where not known."""
    numbers = digits(np.stack([*metrics.values()], axis=1))
    return table(("site", "layer", "head", *metrics), ((*head, *row) for head, row in zip(heads, numbers, strict=True)))
