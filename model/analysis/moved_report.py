"""Two models over a corpus, as text (layers and heads from 1, as in the app), as JSON (from 0) and as a table."""

import csv
import io
import math
from typing import Any, Final

import numpy as np

from model.analysis.atlas.measure import Atlas
from model.analysis.metrics.head_jobs import HeadJob
from model.analysis.metrics.head_metrics import HeadName
from model.analysis.moved_heads import SIDES, MovedHeads
from model.nn.encoder_decoder import SITES

#: Heads that the report names, and of these those with examples.
NAMED, WITH_EXAMPLES = 10, 3
DIGITS: Final = 6


def moved_report(found: MovedHeads) -> str:
    """What `python -m model compare` prints."""
    lines = [f"{_compared(found)} texts compared, {found.by_words} of them by words; {found.skipped} skipped"]
    if found.gain is not None:
        value, low, high = found.gain
        lines.append(f"log-likelihood of a token, second less first: {value:+.4f} nats ({low:+.4f} to {high:+.4f})")
    lines += ["", "The heads that moved most: mean Jensen–Shannon divergence of their rows, bits, 95% interval by text"]
    ranked = found.ranked()
    for at in ranked[:NAMED]:
        low, high = found.ends[at]
        lines.append(f"{_label(found.heads[at]):<32}{found.distances[at]:.4f}  ({low:.4f} to {high:.4f})")
    lines += ["", "Heads with another job"]
    lines += [f"{_label(head):<32}{_job(first)} → {_job(second)}" for head, first, second in found.changed_jobs()] or [
        "none"
    ]
    for at in ranked[:WITH_EXAMPLES]:
        lines += ["", f"{_label(found.heads[at])}: a text from each tenth, from where it moved least"]
        lines += [f"{found.of_texts[text, at]:.4f}  {found.texts[text]}" for text in found.deciles(at)]
    return "\n".join(lines)


def moved_json(found: MovedHeads) -> dict[str, Any]:
    """All of it; heads in the order of how far they moved, and of each the texts of its deciles."""
    return {
        "models": [atlas.model for atlas in found.atlases],
        "origin": None if found.origin is None else {**found.origin._asdict(), "columns": list(found.origin.columns)},
        "texts": _compared(found),
        "skipped": found.skipped,
        "by_words": found.by_words,
        "rows": dict(found.rows),
        "gain": None if found.gain is None else [round(number, DIGITS) for number in found.gain],
        "heads": [
            {
                **found.heads[at]._asdict(),
                "distance": _rounded(found.distances[at]),
                "interval": [_rounded(end) for end in found.ends[at]],
                "metrics": {name: list(map(_rounded, values)) for name, values in _metrics(found, found.heads[at])},
                "deciles": [[_rounded(found.of_texts[text, at]), found.texts[text]] for text in found.deciles(at)],
            }
            for at in found.ranked()
        ],
        "changed_jobs": [
            {**head._asdict(), "jobs": [None if job is None else job.metric for job in jobs]}
            for head, *jobs in found.changed_jobs()
        ],
        "likelihoods": [
            [text, *map(_rounded, of_text)] for text, of_text in zip(found.texts, found.likelihoods, strict=True)
        ],
    }


def moved_csv(found: MovedHeads) -> str:
    """A row for each head, the one that moved most first, with its metrics in both models; as `report.atlas_csv`."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    names = [name for name, _values in _metrics(found, found.heads[0])]
    metrics = [f"{name} {side}" for name in names for side in SIDES]
    writer.writerow(("site", "layer (from 1)", "head (from 1)", "distance (bits)", "low", "high", *metrics))
    for at in found.ranked():
        head = found.heads[at]
        values = [value for _name, both in _metrics(found, head) for value in both]
        numbers = np.array([found.distances[at], *found.ends[at], *values], np.float32)
        texts = ("" if np.isnan(number) else str(number) for number in numbers)
        writer.writerow((head.site, head.layer + 1, head.head + 1, *texts))
    return f"\ufeff{file.getvalue()}"


def _metrics(found: MovedHeads, head: HeadName) -> list[tuple[str, tuple[float, float]]]:
    """Each metric that both models have, of a head in both."""
    at = SITES.index(head.site), head.layer, head.head
    first, second = (atlas.metrics for atlas in found.atlases)
    return [(name, (float(first[name][at]), float(second[name][at]))) for name in first if name in second]


def _compared(found: MovedHeads) -> int:
    given: Atlas = found.atlases[0]
    return given.sentences - (found.skipped - sum(given.skipped.values()))


def _label(head: HeadName) -> str:
    return f"{head.site} layer {head.layer + 1}, head {head.head + 1}"


def _job(job: HeadJob | None) -> str:
    return "no job" if job is None else f"{job.metric} {job.value:.2f}"


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), DIGITS)
