"""What the metrics of a film are called: those of heads, and two of the links that were made by hand."""

from collections.abc import Mapping
from typing import Final

from viz.ui import head_metrics
from viz.ui.head_metrics import MetricText

_BY_HAND: Final = "by links made by hand, between 0 and 1"
TEXTS: Final[Mapping[str, MetricText]] = {
    "word_out": MetricText(
        "Word coming out", f"the weight on the source words that the word being written renders, {_BY_HAND}"
    ),
    "word_in": MetricText(
        "Word going in", f"the weight on the source words that the word just read renders, {_BY_HAND}"
    ),
    **head_metrics.TEXTS,
}
#: Metrics that are no share of the weight.
NO_SHARES: Final = frozenset({"entropy", "distance"})
#: What a head has become, by the metric that says so, where no job is named after it.
ALIGNS: Final = {"word_out": "looks at the word coming out", "word_in": "looks at the word going in"}


def meaning(metric: str, site: str) -> str:
    """What a metric says at an attention, as the end of a sentence."""
    return TEXTS[metric].meaning if metric in ALIGNS else head_metrics.meaning(metric, site)
