"""Measure every head of a model on a set of pronoun cases: does it look from a pronoun to what that stands for?

Scored is the attention that reads the sentence, at the row of the pronoun: `encoder.self`, or `decoder.self` of a
decoder alone. Of our own Transformers `decoder.cross` is scored too, at the row that predicts the German pronoun in the
model's own greedy translation.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.coreference.cases import PronounCase, PronounCases
from model.analysis.coreference.pronoun_choice import find_pronoun
from model.analysis.coreference.pronoun_rows import (
    REFUSED,
    CandidateWeights,
    Measure,
    ReadCase,
    case_weights,
    read_case,
)
from model.analysis.coreference.scores import SiteScores, hits, score_site
from model.analysis.corpus import CorpusSentence, trace_all
from model.analysis.interventions.head_effects import batches
from model.analysis.metrics.estimates import Estimate, bootstrap_mean
from model.errors import DataError, InputTextError
from model.interruption import Progress, no_progress
from model.messages import said
from model.reader import Reader
from model.sequence_translator import SequenceTranslator
from model.trace.trace import Trace
from model.translator import Translator
from model.word_choice import TextChoice

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


@torch.inference_mode()
def measure_coreference(
    reader: Reader,
    given: PronounCases,
    *,
    sites: Sequence[str] | None = None,
    measure: Measure = "raw",
    progress: Progress = no_progress,
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
    """
    if measure == "rollout" and "rollout" in reader.abilities.lacks:
        raise DataError(reader.abilities.lacks["rollout"])
    if not isinstance(reader, Translator):
        sites = (next(iter(reader.abilities.heads)),)
    elif sites is None:
        sites = SCORED_SITES if reader.is_english_german else (ENCODER,)
    if isinstance(reader, Translator) and (unknown := sorted(set(sites) - set(SCORED_SITES))):
        message = "Sites that can be scored are {scored_sites}, got {unknown}."
        raise DataError(message, scored_sites=" and ".join(SCORED_SITES), unknown=", ".join(unknown))
    skipped = Counter(given.skipped)
    read: list[ReadCase] = []
    for number, case in enumerate(given.cases):
        if number % READ_AT_ONCE == 0:
            progress(0)
        result = read_case(reader, case)
        if isinstance(result, str):
            skipped[result] += 1
        else:
            read.append(result)
    if not read:
        raise DataError("No row could be scored: {skipped}.", skipped=", ".join(skipped))
    collected = _collect(reader, read, sites, measure, progress)
    cases = [item.case for item in read]
    scores = {site: _site_scores(site, measure, cases, collected, progress) for site in dict.fromkeys(sites)}
    if not any(scores.values()):
        reasons = sorted({reason for counts in collected.skipped.values() for reason in counts})
        raise DataError("No row could be scored: {reasons}.", reasons=", ".join(reasons) or said("all are controls"))
    return CoreferenceScores(
        measure=measure,
        cases=tuple(cases),
        skipped=MappingProxyType(dict(skipped)),
        sites=MappingProxyType({site: of_site for site, of_site in scores.items() if of_site is not None}),
        unscored=MappingProxyType({site: MappingProxyType(dict(collected.skipped[site])) for site in scores}),
        contrast=_contrast_scores(cases, collected.margins),
    )


class _Collected:
    """What the sentences gave, in the order in which they were read.

    Of each site, the case of every row and its weights (`rows`, `weights`), and reason → rows without (`skipped`);
    `margins`: case → log P(right) − log P(wrong).
    """

    def __init__(self) -> None:
        self.rows: defaultdict[str, list[int]] = defaultdict(list)
        self.weights: defaultdict[str, list[CandidateWeights]] = defaultdict(list)
        self.skipped: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.margins: dict[int, float] = {}


def _collect(
    reader: Reader, read: Sequence[ReadCase], sites: Sequence[str], measure: Measure, progress: Progress
) -> _Collected:
    collected = _Collected()
    # An encoder reads the sentence whatever its decoder writes.
    of_own = CROSS in sites
    sentences = [CorpusSentence(item.case.sentence, None if of_own else item.case.sentence) for item in read]
    for row, trace in trace_all(reader, sentences):
        for site in sites:
            if isinstance(trace, InputTextError):
                collected.skipped[site][REFUSED] += 1
            elif isinstance(asking := _asking(reader, trace, site, read[row]), str):
                collected.skipped[site][asking] += 1
            else:
                collected.rows[site].append(row)
                collected.weights[site].append(case_weights(reader, trace, site, read[row], asking, measure))
        progress(1)
    collected.margins.update(_margins(reader, read))
    return collected


def _asking(reader: Reader, trace: Trace, site: str, read: ReadCase) -> Sequence[Sequence[int]] | str:
    """The query rows that `case_weights` asks for, or why there are none."""
    if site == CROSS:
        assert isinstance(reader, SequenceTranslator)
        end = reader.config.eos_id
        pronoun = find_pronoun(reader, read.case, [token for token in trace.target_ids[1:] if token != end])
        return pronoun if isinstance(pronoun, str) else [[pronoun.row]]
    # Where later tokens are masked, nothing looks from the candidates to a pronoun that follows them.
    return read.pieces if site == ENCODER else read.pieces[:1]


def _margins(reader: Reader, read: Sequence[ReadCase]) -> Iterator[tuple[int, float]]:
    """The number of each case with German to choose from, and log P(right) − log P(wrong) of its sentences, in nats."""
    if not isinstance(reader, SequenceTranslator):
        return
    rows = [row for row, item in enumerate(read) if item.german is not None]
    choices = [TextChoice(read[row].source_ids, reader.config.bos_id, *(read[row].german or ((), ()))) for row in rows]
    for numbers in batches(reader, choices):
        odds = reader.log_odds([choices[number] for number in numbers])[0]
        yield from zip([rows[number] for number in numbers], odds.tolist(), strict=True)


def _site_scores(
    site: str, measure: Measure, cases: Sequence[PronounCase], collected: _Collected, progress: Progress
) -> SiteScores | None:
    if not collected.rows[site]:
        return None
    rows = torch.tensor(collected.rows[site])
    order = rows.argsort()
    ordered = [cases[row] for row in rows[order].tolist()]
    weights = CandidateWeights.joined(collected.weights[site]).reordered(order)
    return score_site(site, measure, ordered, weights, collected.skipped[site], progress)


def _contrast_scores(cases: Sequence[PronounCase], margins: Mapping[int, float]) -> ContrastScores | None:
    if not margins:
        return None
    rows = sorted(margins)
    values = torch.tensor([margins[row] for row in rows])
    chosen = tuple(cases[row] for row in rows)
    pairs = [case.pair_name for case in chosen]
    right = hits(torch.stack((values, torch.zeros_like(values)), -1))
    return ContrastScores(chosen, values, bootstrap_mean(right, pairs), bootstrap_mean(values, pairs))
