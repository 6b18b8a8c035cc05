"""What the metrics of a film are called: those of heads, and two of the links that were made by hand."""

from collections.abc import Mapping
from typing import Final

from viz.text.messages import said, shown
from viz.ui import head_metrics
from viz.ui.head_metrics import MetricText

TEXTS: Final[Mapping[str, MetricText]] = {
    "word_out": MetricText(
        said("Word coming out"),
        said(
            "the weight on the source words that the word being written renders, by links made by hand, between 0 and 1"
        ),
    ),
    "word_in": MetricText(
        said("Word going in"),
        said("the weight on the source words that the word just read renders, by links made by hand, between 0 and 1"),
    ),
    **head_metrics.TEXTS,
}
#: Metrics that are no share of the weight.
NO_SHARES: Final = frozenset({"entropy", "distance"})
#: What a head has become, by the metric that says so, where no job is named after it.
ALIGNS: Final = {"word_out": said("looks at the word coming out"), "word_in": said("looks at the word going in")}


def meaning(metric: str, site: str) -> str:
    """What a metric says at an attention, as the end of a sentence."""
    return shown(TEXTS[metric].meaning if metric in ALIGNS else head_metrics.meaning(metric, site))
