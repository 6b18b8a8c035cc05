"""Two models over a corpus, as text (layers and heads from 1, as in the app), as JSON (from 0) and as a table."""

from typing import Any, Final

import numpy as np

from model.analysis.atlas.measure import Atlas
from model.analysis.metrics.head_jobs import HeadJob
from model.analysis.metrics.head_metrics import HeadName
from model.analysis.moved_heads import SIDES, MovedHeads
from model.analysis.report import head_label, heads_csv, rounded
from model.arrays_file import Array
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
                "distance": rounded(float(found.distances[at]), DIGITS),
                "interval": rounded(found.ends[at].tolist(), DIGITS),
                "metrics": {name: rounded(list(values), DIGITS) for name, values in _metrics(found, found.heads[at])},
                "deciles": [
                    [rounded(float(found.of_texts[text, at]), DIGITS), found.texts[text]] for text in found.deciles(at)
                ],
            }
            for at in found.ranked()
        ],
        "changed_jobs": [
            {**head._asdict(), "jobs": [None if job is None else job.metric for job in jobs]}
            for head, *jobs in found.changed_jobs()
        ],
        "likelihoods": [
            [text, *of_text]
            for text, of_text in zip(found.texts, rounded(found.likelihoods.tolist(), DIGITS), strict=True)
        ],
    }


def moved_csv(found: MovedHeads) -> str:
    """A row for each head, the one that moved most first, with its metrics in both models; as `heads_csv`."""
    columns = [f"{name} {side}" for name, _values in _metrics(found, found.heads[0]) for side in SIDES]

    def numbers(at: int) -> Array:
        of_head = [value for _name, both in _metrics(found, found.heads[at]) for value in both]
        return np.array([found.distances[at], *found.ends[at], *of_head])

    of_heads = ((found.heads[at], numbers(at)) for at in found.ranked())
    return heads_csv(("distance (bits)", "low", "high", *columns), of_heads)


def _metrics(found: MovedHeads, head: HeadName) -> list[tuple[str, tuple[float, float]]]:
    """Each metric that both models have, of a head in both."""
    at = SITES.index(head.site), head.layer, head.head
    first, second = (atlas.metrics for atlas in found.atlases)
    return [(name, (float(first[name][at]), float(second[name][at]))) for name in first if name in second]


def _compared(found: MovedHeads) -> int:
    given: Atlas = found.atlases[0]
    return given.sentences - (found.skipped - sum(given.skipped.values()))


def _label(head: HeadName) -> str:
    return f"{head.site} {head_label(head.layer, head.head)}"


def _job(job: HeadJob | None) -> str:
    return "no job" if job is None else f"{job.metric} {job.value:.2f}"
