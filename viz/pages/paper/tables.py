"""What the page on claims measured, as tables: CSV as `viz.ui.trace_tables` writes it."""

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from viz.ui.trace_tables import digits, table

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from model.analysis.ablations.results import AblationResults
    from model.analysis.interventions.parts_off import PartScore
    from model.analysis.layer_kinds import LayerTimes
    from model.analysis.scoring import ScoreCost
    from viz.pages.paper.data.claims import Regression, Sample


def scores(samples: "Mapping[str, Sequence[Sample]]") -> bytes:
    """A row for each score function and width; entropies in bits."""
    parts = ("spread", "entropy", "gradient")
    titles = [f"{part}_{quartile}" for part in parts for quartile in ("q25", "median", "q75")]
    rows = (
        (sample.name, sample.width, sample.variance, sample.expected, *map(float, chain(*_quartiles(sample))))
        for of_name in samples.values()
        for sample in of_name
    )
    return table(["score", "d_k", "variance", "expected_variance", *titles], rows)


def _quartiles(sample: "Sample") -> list[tuple[float, float, float]]:
    return [(part.low, part.median, part.high) for part in (sample.spread, sample.entropy, sample.gradient)]


def score_costs(measured: "Sequence[ScoreCost]", width: int) -> bytes:
    """A row for each function, size and device."""
    titles = ("score", "device", "n", "d_k", "seconds", "bytes")
    rows = ((one.name, one.device, one.size, width, one.measured.seconds, one.measured.num_bytes) for one in measured)
    return table(titles, rows)


def pooling(found: "Regression") -> bytes:
    """A row per query of the curve: its position, its prediction, and its weight on each key."""
    titles = ["query", "pooled_value", *(f"key_{key:.4f}" for key in found.keys)]
    columns = (found.queries, found.predicted, digits(found.weights))
    return table(titles, ([query, predicted, *row] for query, predicted, row in zip(*columns, strict=True)))


def layer_times(times: "LayerTimes") -> bytes:
    """A row for each layer that was measured: its kind, sizes and device, and the least of its times."""
    titles = ("kind", "device", "n", "d", "kernel", "window", "seconds")
    settings = (times.settings.kernel, times.settings.window)
    measured = (*times.over_length, *times.over_width)
    return table(titles, ((one.kind, one.device, one.length, one.width, *settings, one.seconds) for one in measured))


def parts_off(scores: "Sequence[PartScore]") -> bytes:
    """A row for each part that was taken out; an empty layer is all of them."""
    titles = ("part", "layer", "kept_head", "bleu_against_whole_model", "share_unchanged")
    rows = (
        (one.off.part, "" if one.off.layer is None else one.off.layer, one.off.kept_head, one.bleu, one.unchanged)
        for one in scores
    )
    return table(titles, rows)


def ablations(results: "AblationResults") -> bytes:
    """A row for each model, seed and set."""
    titles = ("model", "seed", "parameters", "last_loss_nats", "set", "sentences", "bleu", "chrf", "tokens_per_second")
    of_set = attrgetter("set", "sentences", "bleu", "chrf")
    speeds = results.tokens_per_second
    rows = (
        (run.preset, run.seed, run.parameters, run.loss, *of_set(score), speeds.get(run.preset, ""))
        for run in results.runs
        for score in run.scores
    )
    return table(titles, rows)


def film_metrics(steps: "Sequence[int]", metrics: "Mapping[str, Float[np.ndarray, 'frame layer head']]") -> bytes:
    """A row for each frame and head: the step of the training, the head, and each of its metrics."""
    layers, heads = next(iter(metrics.values())).shape[1:]
    rows = (
        (step, layer, head, *(repr(float(values[frame, layer, head])) for values in metrics.values()))
        for frame, step in enumerate(steps)
        for layer in range(layers)
        for head in range(heads)
    )
    return table(("training_step", "layer", "head", *metrics), rows)
