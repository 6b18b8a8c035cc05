"""Heads switched off or patched as CSV: a row a head, layers and heads from 0."""

from typing import TYPE_CHECKING

from viz.ui.trace_tables import table

if TYPE_CHECKING:
    from model.analysis.interventions.head_effects import HeadEffects
    from model.analysis.interventions.patching import Patching
    from model.analysis.metrics.head_names import HeadName


def effects(measured: "HeadEffects", estimated: "HeadEffects", heads: "tuple[HeadName, ...]") -> bytes:
    """A row for each head: what switching it off changes, measured and estimated, in nats."""
    titles = (
        "site", "layer", "head", "mean_change", "importance", "accuracy_change", "estimated_mean_change",
        "estimated_importance",
    )  # fmt: skip
    columns = (
        measured.mean_changes, measured.importance, measured.accuracy_changes, estimated.mean_changes,
        estimated.importance,
    )  # fmt: skip
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    return table(titles, ((*head, *map(repr, line)) for head, line in zip(heads, numbers, strict=True)))


def patching(patching: "Patching", heads: "tuple[HeadName, ...]") -> bytes:
    """A row for each head: how far its output of B turns A into B (1), over all pairs."""
    values = patching.overall.tolist()
    lines = ((*head, repr(value)) for head, value in zip(heads, values, strict=True))
    return table(("site", "layer", "head", "share_of_the_way_to_b"), lines)
