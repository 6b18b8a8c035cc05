"""Say what a head is for, where a measured number says so clearly: its jobs, by one rule with its thresholds.

A head has a job if the lower end of the 95 % interval of a metric reaches the job's threshold. Where there is no
interval, because a single sentence was measured, the number itself must reach it.

- Shares of weight ("previous token", "same token", "next token", "first token", "last token", "punctuation",
  "induction", and on random tokens that come again "prefix_matching" and "duplicate"): 0.4. A head that looks
  everywhere alike gives one key of a sentence of 15 tokens 0.07; from 0.4 on, what is named gets several times that, on
  average over all tokens. Clark et al. 2019, §3.1, name heads from 0.5 on, in a model with more heads to choose from.
  In a decoder, "previous", "same" and "next" count from the token that a row reads, also where rows stand for what
  they write (`Trace.rows_write`).
- "follows antecedents": in 0.6 of the sentences, where guessing gives 0.5, the pronoun's row gives the antecedent more
  than the distractor. Of a hundred heads that guess, some two have an interval above 0.5 by luck, hardly one above 0.6.
- "aligns token read" and "aligns token predicted": an alignment error rate of at most 0.5 against links made by
  hand, which a diagonal seldom reaches between English and German.

The decoder's last key is seen by one row alone and its self-attention cannot look ahead, so "last token" is no job
there. On the first token, the last and punctuation heads rest that have nothing to do (Clark et al. 2019, §3.2). Of
several jobs the one named first is that whose number exceeds its threshold most, as a part of what is left to 1.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

ANTECEDENT: Final = "antecedent"
"""Share of the curated sentences in which the head looks more at the antecedent than at the distractor."""

Numbers = npt.NDArray[np.floating]
Metrics = Mapping[str, Float[Numbers, "layer head"]]
Intervals = Mapping[str, Float[Numbers, "layer head end"]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A job: by which metric, from which threshold on."""

    metric: str
    threshold: float
    is_error: bool = False  #: whether 1 − the metric counts
    is_rest: bool = False  #: whether heads look there that have nothing to do


RULES: Final = (
    Rule(ANTECEDENT, 0.6),
    Rule("aer_word_out", 0.5, is_error=True),
    Rule("aer_word_in", 0.5, is_error=True),
    *(Rule(metric, 0.4) for metric in ("previous", "same", "next", "induction", "prefix_matching", "duplicate")),
    *(Rule(metric, 0.4, is_rest=True) for metric in ("first", "last", "punctuation")),
)


@dataclass(frozen=True, slots=True)
class HeadJob:
    """What a head was measured to do."""

    metric: str  #: that says so; names for people are the page's
    value: float  #: the number; of an error rate, 1 − its value
    #: low, high: the ends of its 95 % interval; None where there is none.
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class SurestHead:
    """A head, and the job that no head is surer of; it may fall short of the job's threshold."""

    site: str
    layer: int
    head: int
    job: HeadJob


def rules_at(site: str) -> tuple[Rule, ...]:
    """The rules of the jobs that there are at a site."""
    return tuple(rule for rule in RULES if (rule.metric, site) != ("last", "decoder.self"))


def jobs_of_heads(site: str, metrics: Metrics, intervals: Intervals) -> dict[tuple[int, int], tuple[HeadJob, ...]]:
    """The jobs that a site offers of each of its heads that has any, the surest first.

    Metrics are NaN where a head has none; one without an interval (lower and upper ends) is taken as it is.
    """
    found: dict[tuple[int, int], list[tuple[Rule, HeadJob]]] = {}
    for rule, head, job in _measured(site, metrics, intervals):
        if _is_reached(rule, job):
            found.setdefault(head, []).append((rule, job))
    return {
        head: tuple(job for _, job in sorted(jobs, key=lambda of: _excess(*of), reverse=True))
        for head, jobs in found.items()
    }


def surest_head(metrics: Mapping[str, Metrics]) -> SurestHead | None:
    """The head that is surest of its job, of equal ones the first; None where no head has a number.

    One that rests comes after all that reach the threshold of another job. `metrics`: site → metric → its values, NaN
    where a head has none.
    """
    ranked = [
        (not rule.is_rest and _is_reached(rule, job), _excess(rule, job), SurestHead(site, *head, job))
        for site, of_site in metrics.items()
        for rule, head, job in _measured(site, of_site, {})
    ]
    return max(ranked, key=lambda entry: entry[:2])[2] if ranked else None


def _measured(site: str, metrics: Metrics, intervals: Intervals) -> Iterator[tuple[Rule, tuple[int, int], HeadJob]]:
    """Every number that a rule is about."""
    for rule in rules_at(site):
        if rule.metric not in metrics:
            continue
        for (layer, head), value in np.ndenumerate(metrics[rule.metric]):
            if not np.isnan(value):
                yield rule, (layer, head), _job(rule, float(value), intervals.get(rule.metric), layer, head)


def _is_reached(rule: Rule, job: HeadJob) -> bool:
    return (job.value if job.low is None else job.low) >= rule.threshold


def _excess(rule: Rule, job: HeadJob) -> float:
    return (job.value - rule.threshold) / (1 - rule.threshold)


def _job(rule: Rule, value: float, ends: Float[Numbers, "layer head end"] | None, layer: int, head: int) -> HeadJob:
    low, high = (None, None) if ends is None or np.isnan(ends[layer, head]).any() else map(float, ends[layer, head])
    if not rule.is_error:
        return HeadJob(rule.metric, value, low, high)
    flipped = (None, None) if low is None or high is None else (1 - high, 1 - low)
    return HeadJob(rule.metric, 1 - value, *flipped)
