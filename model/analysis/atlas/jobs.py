"""Say what a head is for, where a measured number says so clearly: its jobs, by one rule with its thresholds.

A head has a job if the lower end of the 95 % interval of a metric reaches the job's threshold. Where there is no
interval, because a single sentence was measured, the number itself must reach it.

- Shares of weight ("previous token", "same token", "next token", "first token", "last token", "punctuation",
  "induction"): 0.4. A head that looks everywhere alike gives one key of a sentence of 15 tokens 0.07; from 0.4 on, what
  is named gets several times that, on average over all tokens. Clark et al. 2019, §3.1, name heads from 0.5 on, in a
  model with more heads to choose from.
- "follows antecedents": in 0.6 of the sentences, where guessing gives 0.5, the pronoun's row gives the antecedent more
  than the distractor. Of a hundred heads that guess, some two have an interval above 0.5 by luck, hardly one above 0.6.
- "aligns word going in" and "aligns word coming out": an alignment error rate of at most 0.5 against links made by
  hand, which a diagonal seldom reaches between English and German.

The decoder's last key is seen by one row alone and its self-attention cannot look ahead, so "last token" is no job
there. Of several jobs the one named first is that whose number exceeds its threshold most, as a part of what is left
to 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

ANTECEDENT: Final = "antecedent"
"""Share of the curated sentences in which the head looks more at the antecedent than at the distractor."""

Numbers = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Rule:
    """A job: by which metric, from which threshold on; of an error rate, 1 − its value is taken."""

    metric: str
    threshold: float
    is_error: bool = False


RULES: Final = (
    Rule(ANTECEDENT, 0.6),
    Rule("aer_word_out", 0.5, is_error=True),
    Rule("aer_word_in", 0.5, is_error=True),
    *(Rule(metric, 0.4) for metric in ("previous", "same", "next", "induction", "first", "last", "punctuation")),
)


@dataclass(frozen=True, slots=True)
class Job:
    """What a head was measured to do.

    Attributes:
        metric: that says so; names for people are the page's.
        value: the number; of an error rate, 1 − its value.
        low, high: the ends of its 95 % interval; None where there is none.
    """

    metric: str
    value: float
    low: float | None = None
    high: float | None = None


def jobs_of_heads(
    site: str,
    metrics: Mapping[str, Float[Numbers, "layer head"]],
    intervals: Mapping[str, Float[Numbers, "layer head end"]],
) -> dict[tuple[int, int], tuple[Job, ...]]:
    """The jobs of each head of a site that has any, the surest first.

    Args:
        site: decides what is a job there.
        metrics: name → numbers, NaN where a head has none; those of no rule are not looked at.
        intervals: name → lower and upper ends; a metric that is missing here is taken as it is.
    """
    found: dict[tuple[int, int], list[tuple[float, Job]]] = {}
    for rule in RULES:
        if rule.metric not in metrics or (rule.metric == "last" and site == "decoder.self"):
            continue
        for layer, head in np.ndindex(metrics[rule.metric].shape):
            job = _job(rule, float(metrics[rule.metric][layer, head]), intervals.get(rule.metric), layer, head)
            surest = job.value if job.low is None else job.low
            # NaN reaches nothing.
            if surest >= rule.threshold:
                excess = (job.value - rule.threshold) / (1 - rule.threshold)
                found.setdefault((layer, head), []).append((-excess, job))
    return {head: tuple(job for _, job in sorted(jobs, key=lambda entry: entry[0])) for head, jobs in found.items()}


def _job(rule: Rule, value: float, ends: Float[Numbers, "layer head end"] | None, layer: int, head: int) -> Job:
    low, high = (None, None) if ends is None or np.isnan(ends[layer, head]).any() else map(float, ends[layer, head])
    if not rule.is_error:
        return Job(rule.metric, value, low, high)
    flipped = (None, None) if low is None or high is None else (1 - high, 1 - low)
    return Job(rule.metric, 1 - value, *flipped)
