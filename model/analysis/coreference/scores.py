"""Score which heads look from a pronoun to what it stands for: metrics, intervals, baselines.

A head is right about a sentence if the pronoun's weight on the antecedent is larger than that on the other candidate;
both the same count half. With two candidates, chance is one half; Voita et al. 2018 ("Context-Aware Neural Machine
Translation Learns Anaphora Resolution") hold attention against such baselines too. Clark et al. 2019 ("What Does BERT
Look At?", §4.2) ask which candidate holds the word that the pronoun attends to most.

The best of many heads, chosen on the rows it is scored on, looks better than it is. So it is also chosen on one half of
the minimal pairs and reported on the other.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis.coreference.cases import PronounCase
from model.analysis.coreference.pronoun_rows import CandidateWeights, Measure
from model.analysis.metrics.estimates import Estimate, bootstrap_mean
from model.analysis.metrics.head_names import LayerHead
from model.interruption import Progress, no_progress
from model.words import Span

CHANCE: Final = 0.5


@dataclass(frozen=True)
class Baselines:
    """Accuracies of choices made without meaning: the nearest or first candidate, the mean of all heads of a site."""

    nearest: float
    first: float
    mean_of_heads: float
    chance: float = CHANCE


@dataclass(frozen=True, eq=False)
class HeldOutHead:
    """The head with the best accuracy on half `chosen_on` (0 or 1) of the pairs, with metrics of the other half."""

    head: LayerHead
    chosen_on: int
    rows: int
    accuracy: Estimate
    nearest: float  #: accuracy of the nearest candidate
    gain: Estimate  #: accuracy − nearest, row by row

    @property
    def beats_nearest(self) -> bool:
        """Whether the interval of the gain is above zero."""
        return float(self.gain.low) > 0


@dataclass(frozen=True, eq=False)
class Controls:
    """Mean weight from the pronoun to both nouns together: in controls, and in the sentences that are scored."""

    rows: int
    weight: Float[Tensor, "layer head"]
    weight_of_scored: Float[Tensor, "layer head"]
    dropped: int = 0  #: how many of the rows have no pronoun: one looks from a predicate whose subject is left out
    #: over these, antecedent above distractor; None where there is none.
    accuracy: Float[Tensor, "layer head"] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class SiteScores:
    """The metrics of all heads of one site; with rollout a layer has one "head"."""

    site: str  #: "encoder.self": the pronoun's row; "decoder.cross": the row that predicts the German pronoun
    measure: Measure
    cases: tuple[PronounCase, ...]  #: scored, in order; controls are not
    skipped: Mapping[str, int]  #: reason → rows that this site could not score, controls included
    weights: CandidateWeights  #: of each case, from the pronoun to antecedent and distractor and back
    accuracy: Estimate  #: antecedent above distractor
    margin: Estimate  #: weight on the antecedent − weight on the distractor
    strongest_word: Estimate  #: accuracy in the form of Clark et al.
    #: accuracy from candidate to pronoun: that of the antecedent above that of the distractor; None for
    #: cross-attention, where the pronoun is no key.
    reverse: Estimate | None
    head_averaged: Float[Tensor, "layer"]  #: accuracy of the mean of each layer's heads
    baselines: Baselines
    best: LayerHead  #: the head with the highest accuracy on all rows, which is therefore too high
    #: chosen on the first half and reported on the second, and the other way round; empty if a half is.
    held_out: tuple[HeldOutHead, ...]
    controls: Controls | None  #: None where there is none

    @property
    def cross_selected(self) -> float | None:
        """Accuracy over both halves, each with the head chosen on the other."""
        if not self.held_out:
            return None
        total = sum(head.rows * float(head.accuracy.value) for head in self.held_out)
        return total / sum(head.rows for head in self.held_out)

    def of_groups(self) -> dict[str, Float[Tensor, "layer head"]]:
        """Accuracy in each group of sentences."""
        right = hits(self.weights.to)[..., :-1]
        groups = dict.fromkeys(case.group for case in self.cases)
        return {
            group: right[[i for i, case in enumerate(self.cases) if case.group == group]].mean(0) for group in groups
        }


def hits(weights: Float[Tensor, "*batch candidate"]) -> Float[Tensor, "*batch"]:
    """1 where the first candidate, the antecedent, has more weight than the second, ½ where both have the same."""
    return ((weights[..., 0] - weights[..., 1]).sign() + 1) / 2


def nearest_hit(case: PronounCase) -> float:
    """`hits` of the baseline that takes the candidate with fewer characters between it and the pronoun."""

    def closeness(candidate: Span) -> float:
        return -float(max(case.pronoun[0] - candidate[1], candidate[0] - case.pronoun[1]))

    return float(hits(torch.tensor([closeness(case.antecedent), closeness(case.distractor)])))


def first_hit(case: PronounCase) -> float:
    """`hits` of the baseline that takes the candidate that comes first in the sentence."""
    return float(case.antecedent < case.distractor)


def half_of(pair: str) -> int:
    """0 or 1, by the name of a pair, the same on every machine.

    Winograd sentences come in twins with opposite answers. With a twin in each half, a head that is right by chance on
    one half is wrong on the other, and its accuracy on the other half would be too low.
    """
    return hashlib.sha256(pair.encode()).digest()[0] % 2


def score_site(
    site: str,
    measure: Measure,
    cases: Sequence[PronounCase],
    weights: CandidateWeights,
    skipped: Mapping[str, int],
    progress: Progress = no_progress,
) -> SiteScores | None:
    """All metrics of a site; None if no case, or nothing but controls, was read.

    `cases` has one a row of the weights, controls among them; `skipped` maps reasons to rows that have no weights.
    `progress` is called with 0 before each bootstrap, which takes a second where there are 19,000 cases.
    """

    def mean(values: Float[Tensor, "row *metric"]) -> Estimate:
        progress(0)
        return bootstrap_mean(values, pairs)

    is_control = torch.tensor([case.is_control for case in cases], dtype=torch.bool)
    scored = [case for case in cases if not case.is_control]
    if not scored:
        return None
    of_scored = weights.reordered((~is_control).nonzero()[:, 0])
    pairs = [case.pair_name for case in scored]
    right, difference = hits(of_scored.to), of_scored.to[..., 0] - of_scored.to[..., 1]
    accuracy = mean(right[..., :-1])
    overall = hits(of_scored.to[..., :-1, :].mean((1, 2)))
    nearest = torch.tensor([nearest_hit(case) for case in scored])
    return SiteScores(
        site=site,
        measure=measure,
        cases=tuple(scored),
        skipped=dict(Counter(skipped)),
        weights=of_scored,
        accuracy=accuracy,
        margin=mean(difference[..., :-1]),
        strongest_word=mean(hits(of_scored.strongest_word)[..., :-1]),
        reverse=None if of_scored.back is None else mean(hits(of_scored.back)[..., :-1]),
        head_averaged=right[..., -1].mean(0),
        baselines=Baselines(float(nearest.mean()), sum(map(first_hit, scored)) / len(scored), float(overall.mean())),
        best=best_head(accuracy.value),
        held_out=held_out_heads(right[..., :-1], nearest, pairs),
        controls=_controls([case for case in cases if case.is_control], weights.to[is_control], of_scored.to),
    )


def best_head(accuracy: Float[Tensor, "layer head"]) -> LayerHead:
    """The head with the highest accuracy; of equal ones the first."""
    return LayerHead(*divmod(int(accuracy.argmax()), accuracy.size(1)))


def held_out_heads(
    right: Float[Tensor, "row layer head"], nearest: Float[Tensor, "row"], pairs: Sequence[str]
) -> tuple[HeldOutHead, ...]:
    """The head chosen on either half of the pairs by `hits`, with its metrics on the other; none if a half is empty."""
    halves = torch.tensor([half_of(pair) for pair in pairs])
    if not 0 < int(halves.sum()) < len(halves):
        return ()
    return tuple(_held_out(right, nearest, pairs, halves == chosen_on, chosen_on) for chosen_on in (0, 1))


def _held_out(
    right: Float[Tensor, "row layer head"],
    nearest: Float[Tensor, "row"],
    pairs: Sequence[str],
    choosing: Bool[Tensor, "row"],
    chosen_on: int,
) -> HeldOutHead:
    head = best_head(right[choosing].mean(0))
    of_head, of_nearest = right[~choosing, head.layer, head.head], nearest[~choosing]
    names = [pair for pair, chooses in zip(pairs, choosing.tolist(), strict=True) if not chooses]
    return HeldOutHead(
        head=head,
        chosen_on=chosen_on,
        rows=len(names),
        accuracy=bootstrap_mean(of_head, names),
        nearest=float(of_nearest.mean()),
        gain=bootstrap_mean(of_head - of_nearest, names),
    )


def _controls(
    cases: Sequence[PronounCase],
    to: Float[Tensor, "control layer head_or_mean candidate"],
    of_scored: Float[Tensor, "row layer head_or_mean candidate"],
) -> Controls | None:
    if not len(to):
        return None
    weight, weight_of_scored = (weights.sum(-1)[..., :-1].mean(0) for weights in (to, of_scored))
    dropped = torch.tensor([case.is_dropped for case in cases], dtype=torch.bool)
    accuracy = hits(to[dropped])[..., :-1].mean(0) if dropped.any() else None
    return Controls(len(to), weight, weight_of_scored, int(dropped.sum()), accuracy)
