"""Measure every head of a model on a set of pronoun cases: does it look from a pronoun to what that stands for?

Scored is the attention that reads the sentence, at the row of the pronoun: `encoder.self`, or `decoder.self` of a
decoder alone. Of our own Transformers `decoder.cross` is scored too, at the row that predicts the German pronoun in the
model's own greedy translation.

A head is right about a sentence if the pronoun's weight on the antecedent is larger than that on the other candidate;
both the same count half. With two candidates, chance is one half; Voita et al. 2018 ("Context-Aware Neural Machine
Translation Learns Anaphora Resolution") hold attention against such baselines too. Clark et al. 2019 ("What Does BERT
Look At?", §4.2) ask which candidate holds the word that the pronoun attends to most.

The best of many heads, chosen on the rows it is scored on, looks better than it is. So it is also chosen on one half of
the minimal pairs and reported on the other.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import compress
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis.coreference.case_files import PronounCase, PronounCases
from model.analysis.coreference.pronoun_choice import find_pronoun
from model.analysis.coreference.pronoun_rows import (
    REFUSED,
    CandidateWeights,
    Measure,
    ReadCase,
    case_weights,
    read_case,
)
from model.analysis.corpus import CorpusSentence
from model.analysis.interventions.head_effects import batches
from model.analysis.metrics.estimates import Estimate, bootstrap_mean
from model.analysis.metrics.head_metrics import LayerHead
from model.arrays_file import Array
from model.errors import DataError, InputTextError, said
from model.interruption import Progress, no_progress
from model.opening import as_chooser, as_writer
from model.over_corpus import ByModels, Partial, Sum, over_corpus
from model.reader import Reader
from model.trace.trace import Trace
from model.training_record import LANGUAGES
from model.word_choice import TextChoice
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
    #: cross-attention, where the pronoun is not a key.
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


ENCODER: Final = "encoder.self"
CROSS: Final = "decoder.cross"
SCORED_SITES: Final = (ENCODER, CROSS)
#: So many sentences are cut into tokens between two looks whether to stop.
READ_AT_ONCE: Final = 64


@dataclass(frozen=True, eq=False)
class ContrastScores:
    """What the model prefers where the pronoun's meaning decides between two German sentences."""

    cases: tuple[PronounCase, ...]
    margins: Float[Tensor, "row"]  #: log P(right) − log P(wrong) of each case with German to choose from, in nats
    #: accuracy, margin: share above zero, and their mean, with intervals.
    accuracy: Estimate
    margin: Estimate


@dataclass(frozen=True, eq=False)
class CoreferenceScores:
    """Everything measured over a set."""

    measure: Measure
    cases: tuple[PronounCase, ...]  #: that the model could read, controls among them
    skipped: Mapping[str, int]  #: reason → rows left out by the file's reader or by the model
    #: "encoder.self", "decoder.cross" → their metrics; a site that could score no row is not here.
    sites: Mapping[str, SiteScores]
    unscored: Mapping[str, Mapping[str, int]]  #: site → reason → rows, for every site asked for
    contrast: ContrastScores | None  #: None where no row has German to choose from

    @property
    def skipped_rows(self) -> int:
        """How many rows were left out altogether."""
        return sum(self.skipped.values())


def measure_coreference(
    reader: Reader,
    given: PronounCases,
    *,
    sites: Sequence[str] | None = None,
    measure: Measure = "raw",
    progress: Progress = no_progress,
    unfinished: Path | None = None,
) -> CoreferenceScores:
    """Score all heads of the sites over a set, and what the model prefers.

    Raises a DataError if no sentence could be read, no site could be scored, a site is none of `SCORED_SITES`, or a
    rollout is asked for of a model without residual connections.

    Args:
        given: the cases; those that the model cannot read are counted with the lines that were left out before.
        sites: of `SCORED_SITES`, of our own Transformers; by default both, or the encoder's alone of one that is not
            known to translate English to German. Of other models it is the one that reads the sentence.
        progress: called with the number of cases done since the last call, which is 0 before the first and after the
            last; it may end the measurement by an error.
        unfinished: as of `over_corpus`.
    """
    if measure == "rollout" and "rollout" in reader.abilities.lacks:
        raise DataError(reader.abilities.lacks["rollout"])
    translates = set(SCORED_SITES) <= reader.abilities.heads.keys()
    if not translates:
        sites = (next(iter(reader.abilities.heads)),)
    elif sites is None:
        sites = SCORED_SITES if reader.languages == LANGUAGES else (ENCODER,)
    if translates and (unknown := sorted(set(sites) - set(SCORED_SITES))):
        message = "Attentions that can be scored: {scored_sites}; got {unknown}."
        raise DataError(message, scored_sites=" and ".join(SCORED_SITES), unknown=", ".join(unknown))
    asked = tuple(dict.fromkeys(sites))

    def finish(total: Partial) -> CoreferenceScores:
        skipped = Counter(given.skipped) + _reasons(total, "")
        cases = list(compress(given.cases, total.rows.get("is_read", ())))
        if not cases:
            raise DataError("No row could be scored: {skipped}.", skipped=", ".join(skipped))
        unscored = {site: _reasons(total, site) for site in asked}
        scores = {site: _site_scores(site, measure, cases, total, unscored[site], progress) for site in asked}
        if not any(scores.values()):
            reasons = sorted({reason for counts in unscored.values() for reason in counts})
            raise DataError(
                "No row could be scored: {reasons}.", reasons=", ".join(reasons) or said("all are controls")
            )
        return CoreferenceScores(
            measure=measure,
            cases=tuple(cases),
            skipped=MappingProxyType(dict(skipped)),
            sites=MappingProxyType({site: of_site for site, of_site in scores.items() if of_site is not None}),
            unscored=MappingProxyType({site: MappingProxyType(dict(counts)) for site, counts in unscored.items()}),
            contrast=_contrast_scores(cases, torch.from_numpy(total.rows["margins"])),
        )

    summed = Sum[PronounCase, CoreferenceScores](
        of_chunk=ByModels(partial(_of_chunk, sites=asked, measure=measure), (reader,)),
        finish=finish,
        name=lambda: " ".join(("coreference 1", reader.weights_digest, reader.key, measure, *asked)),
    )
    return over_corpus(given.cases, summed, progress, unfinished)


def _reasons(total: Partial, site: str) -> Counter[str]:
    """Reason → rows that were left out for it: of a site, or of all."""
    counted = {tuple(name.split("/", 1)): int(count) for name, count in total.sums.items()}
    return Counter({reason: count for (of, reason), count in counted.items() if of == site})


@torch.inference_mode()
def _of_chunk(
    reader: Reader, cases: Sequence[PronounCase], progress: Progress, *, sites: Sequence[str], measure: Measure
) -> Partial:
    """Read some cases.

    `SITE/REASON` counts rows left out, without a site of all. Rows: `is_read` of each case, of those that are
    `margins`, log P(right) − log P(wrong) or NaN, and for each site `is_scored` and, where it is, `CandidateWeights`.
    """
    sums: Counter[str] = Counter()
    read: list[ReadCase] = []
    is_read = np.zeros(len(cases), bool)
    for number, case in enumerate(cases):
        if number % READ_AT_ONCE == 0:
            progress(0)
        if isinstance(result := read_case(reader, case), str):
            sums[f"/{result}"] += 1
        else:
            is_read[number] = True
            read.append(result)
    found: dict[str, dict[int, CandidateWeights]] = {site: {} for site in sites}
    # An encoder reads the sentence whatever its decoder writes.
    of_own = CROSS in sites
    sentences = [CorpusSentence(item.case.sentence, None if of_own else item.case.sentence) for item in read]
    for row, trace in reader.trace_batch(sentences):
        for site in sites:
            if isinstance(trace, InputTextError):
                sums[f"{site}/{REFUSED}"] += 1
            elif isinstance(asking := _asking(reader, trace, site, read[row]), str):
                sums[f"{site}/{asking}"] += 1
            else:
                found[site][row] = case_weights(reader, trace, site, read[row], asking, measure)
        progress(1)
    margins = np.full(len(read), np.nan, np.float32)
    for row, margin in _margins(reader, read):
        margins[row] = margin
    rows: dict[str, Array] = {"is_read": is_read, "margins": margins}
    for site, of_site in found.items():
        rows[f"{site}/is_scored"] = np.isin(np.arange(len(read)), list(of_site))
        if of_site:
            whole = CandidateWeights.joined([of_site[row] for row in sorted(of_site)])
            rows |= {f"{site}/{name}": of.numpy() for name, of in vars(whole).items() if of is not None}
    return Partial(sums, rows)


def _asking(reader: Reader, trace: Trace, site: str, read: ReadCase) -> Sequence[Sequence[int]] | str:
    """The query rows that `case_weights` asks for, or why there are none."""
    if site == CROSS:
        writer = as_writer(reader)
        emitted = [token for token in trace.target_ids[1:] if token not in writer.end_ids]
        pronoun = find_pronoun(writer, read.case, emitted)
        return pronoun if isinstance(pronoun, str) else [[pronoun.row]]
    # Where later tokens are masked, nothing looks from the candidates to a pronoun that follows them.
    return read.pieces if site == ENCODER else read.pieces[:1]


def _margins(reader: Reader, read: Sequence[ReadCase]) -> Iterator[tuple[int, float]]:
    """The number of each case with German to choose from, and log P(right) − log P(wrong) of its sentences, in nats."""
    rows = [row for row, item in enumerate(read) if item.german is not None]
    if not rows:
        return
    chooser = as_chooser(reader)
    begin = chooser.place(read[rows[0]].case.sentence).target[:1]
    choices = [TextChoice(read[row].source_ids, begin, *(read[row].german or ((), ()))) for row in rows]
    for numbers in batches(chooser, choices):
        odds = chooser.log_odds([choices[number] for number in numbers])[0]
        yield from zip([rows[number] for number in numbers], odds.tolist(), strict=True)


def _site_scores(
    site: str,
    measure: Measure,
    cases: Sequence[PronounCase],
    total: Partial,
    skipped: Mapping[str, int],
    progress: Progress,
) -> SiteScores | None:
    if f"{site}/to" not in total.rows:
        return None
    names = [field.name for field in fields(CandidateWeights) if f"{site}/{field.name}" in total.rows]
    weights = CandidateWeights(**{name: torch.from_numpy(total.rows[f"{site}/{name}"]) for name in names})
    scored = list(compress(cases, total.rows[f"{site}/is_scored"]))
    return score_site(site, measure, scored, weights, skipped, progress)


def _contrast_scores(cases: Sequence[PronounCase], margins: Float[Tensor, "row"]) -> ContrastScores | None:
    has_choice = ~margins.isnan()
    if not has_choice.any():
        return None
    values, chosen = margins[has_choice], tuple(compress(cases, has_choice.tolist()))
    pairs = [case.pair_name for case in chosen]
    right = hits(torch.stack((values, torch.zeros_like(values)), -1))
    return ContrastScores(chosen, values, bootstrap_mean(right, pairs), bootstrap_mean(values, pairs))
