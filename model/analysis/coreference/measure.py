"""Measure every head of a model on a set of pronoun cases: does it look from a pronoun to what that stands for?

Scored is the attention that reads the sentence, at the row of the pronoun: `encoder.self`, or `decoder.self` of a
decoder alone, a sentence at a time from its trace. Our own Transformers read in batches, and `decoder.cross` is scored
too, at the row that predicts the German pronoun in the model's own greedy translation.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.analysis.coreference.cases import PronounCase, PronounCases
from model.analysis.coreference.pronoun_choice import find_pronoun
from model.analysis.coreference.pronoun_rows import measured_rows
from model.analysis.coreference.scores import SiteScores, hits, score_site
from model.analysis.coreference.span_attention import (
    CandidateWeights,
    Measure,
    ReadCase,
    cross_span_rows,
    cross_weights,
    encoder_span_rows,
    encoder_weights,
    read_case,
    site_layers,
)
from model.analysis.corpus import Progress
from model.analysis.metrics.bootstrap import Estimate, bootstrap_mean
from model.decoding.search import greedy_search
from model.errors import DataError
from model.messages import said
from model.nn.hooks import listen
from model.nn.masks import key_padding, pad
from model.reader import Reader
from model.sequence_translator import odds_from_memory
from model.translator import Translator
from model.word_choice import TextChoice

ENCODER: Final = "encoder.self"
CROSS: Final = "decoder.cross"
SCORED_SITES: Final = (ENCODER, CROSS)
RECORDED: Final = ("hook_query", "hook_key", "hook_value")
TOKENS_PER_BATCH: Final = 2_000
#: So many sentences are cut into tokens between two looks whether to stop.
READ_AT_ONCE: Final = 64


@dataclass(frozen=True, eq=False)
class ContrastScores:
    """What the model prefers where the pronoun's meaning decides between two German sentences.

    Attributes:
        margins: log P(right) − log P(wrong) of each case with German to choose from, in nats.
        accuracy, margin: share above zero, and their mean, with intervals.
    """

    cases: tuple[PronounCase, ...]
    margins: Float[Tensor, "row"]
    accuracy: Estimate
    margin: Estimate


@dataclass(frozen=True, eq=False)
class CoreferenceScores:
    """Everything measured over a set.

    Attributes:
        cases: that the model could read, controls among them.
        skipped: reason → rows left out by the file's reader or by the model.
        sites: "encoder.self", "decoder.cross" → their metrics; a site that could score no row is not here.
        unscored: site → reason → rows, for every site asked for.
        contrast: None where no row has German to choose from.
    """

    measure: Measure
    cases: tuple[PronounCase, ...]
    skipped: Mapping[str, int]
    sites: Mapping[str, SiteScores]
    unscored: Mapping[str, Mapping[str, int]]
    contrast: ContrastScores | None

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
    progress: Progress = lambda done: None,
) -> CoreferenceScores:
    """Score all heads of the sites over a set, and what the model prefers.

    Args:
        reader: the model that is measured.
        given: the cases; those that the model cannot read are counted with the lines that were left out before.
        sites: of `SCORED_SITES`, of our own Transformers; by default both, or the encoder's alone of one that is not
            known to translate English to German. Of other models it is the one that reads the sentence.
        measure: "raw", "norm" or "rollout".
        progress: called with the number of cases done since the last call, which is 0 before the first and after the
            last; it may end the measurement by an error.

    Raises:
        DataError: no sentence could be read, no site could be scored, a site is none of `SCORED_SITES`, or a rollout is
            asked for of a model without residual connections.
    """
    if measure == "rollout" and "rollout" in reader.abilities.lacks:
        raise DataError(reader.abilities.lacks["rollout"])
    if not isinstance(reader, Translator):
        sites = (next(iter(reader.abilities.heads)),)
    elif sites is None:
        sites = SCORED_SITES if reader.is_english_german else (ENCODER,)
    if isinstance(reader, Translator) and (unknown := sorted(set(sites) - set(SCORED_SITES))):
        raise DataError(
            "Sites that can be scored are {scored_sites}, got {unknown}.",
            scored_sites=" and ".join(SCORED_SITES),
            unknown=", ".join(unknown),
        )
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
    collected = _Collected()
    for rows in _batches(read) if isinstance(reader, Translator) else ([row] for row in range(len(read))):
        chosen = [read[row] for row in rows]
        if isinstance(reader, Translator):
            _measure_batch(reader, _read_batch(reader, chosen, rows), sites, measure, collected)
        else:
            collected.add(sites[0], rows, _traced_weights(reader, chosen[0], sites[0], measure))
        progress(len(rows))
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
    """What the batches gave, in the order in which they were run.

    Attributes:
        rows, weights: of each site, the case of every row and its weights.
        skipped: of each site, reason → rows without weights.
        margins: case → log P(right) − log P(wrong).
    """

    def __init__(self) -> None:
        self.rows: defaultdict[str, list[int]] = defaultdict(list)
        self.weights: defaultdict[str, list[CandidateWeights]] = defaultdict(list)
        self.skipped: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.margins: dict[int, float] = {}

    def add(self, site: str, rows: Sequence[int], weights: CandidateWeights) -> None:
        self.rows[site] += rows
        self.weights[site].append(weights)


def _batches(read: Sequence[ReadCase]) -> Iterator[list[int]]:
    """Rows of similar length together, the longest first, so that what does not fit in memory shows at once."""
    order = sorted(range(len(read)), key=lambda row: len(read[row].source_ids))
    while order:
        size = max(1, TOKENS_PER_BATCH // len(read[order[-1]].source_ids))
        yield order[-size:]
        del order[-size:]


@dataclass(frozen=True, eq=False)
class _Batch:
    """Sentences that the encoder has read; `rows` are their numbers in the set, padding is True at real tokens."""

    rows: Sequence[int]
    cases: Sequence[ReadCase]
    source_ids: Int[Tensor, "row source"]
    padding: Bool[Tensor, "row source"]
    memory: Float[Tensor, "row source d_model"]
    recorded: Mapping[str, list[Tensor]]

    def only(self, kept: list[int]) -> "_Batch":
        """These sentences alone."""
        return _Batch(
            [self.rows[i] for i in kept],
            [self.cases[i] for i in kept],
            self.source_ids[kept],
            self.padding[kept],
            self.memory[kept],
            {name: [value[0][kept]] for name, value in self.recorded.items()},
        )


def _read_batch(translator: Translator, cases: Sequence[ReadCase], rows: Sequence[int]) -> _Batch:
    model, config = translator.model, translator.config
    source_ids = pad([case.source_ids for case in cases], config.pad_id).to(model.device)
    padding = key_padding(source_ids, config.pad_id)
    with listen(record=RECORDED) as recorded:
        memory = model.encode(source_ids, padding)
    return _Batch(rows, cases, source_ids, padding, memory, recorded)


def _measure_batch(
    translator: Translator, batch: _Batch, sites: Sequence[str], measure: Measure, collected: _Collected
) -> None:
    if ENCODER in sites:
        spans = encoder_span_rows(batch.cases, batch.padding.size(1))
        layers = site_layers(translator, batch.recorded, ENCODER)
        collected.add(ENCODER, batch.rows, encoder_weights(layers, spans, batch.padding, measure))
    if CROSS in sites:
        _measure_cross(translator, batch, measure, collected)
    german = [(i, case.german) for i, case in enumerate(batch.cases) if case.german is not None]
    if german:
        chosen = batch.only([i for i, _ in german])
        margins = _margins(translator, chosen, [case for _, case in german])
        collected.margins.update(zip(chosen.rows, margins.tolist(), strict=True))


def _margins(
    translator: Translator, batch: _Batch, german: Sequence[tuple[Sequence[int], Sequence[int]]]
) -> Float[Tensor, "row"]:
    """log P(right | sentence) − log P(wrong | sentence) of each row, in nats; the sentences are not read again."""
    choices = [
        TextChoice(tuple(case.source_ids), translator.config.bos_id, tuple(right), tuple(wrong))
        for case, (right, wrong) in zip(batch.cases, german, strict=True)
    ]
    return odds_from_memory(translator.model, batch.memory, batch.padding, choices)[0].cpu()


def _traced_weights(reader: Reader, read: ReadCase, site: str, measure: Measure) -> CandidateWeights:
    # An encoder reads the sentence whatever its decoder writes.
    trace = reader.trace(read.case.sentence, read.case.sentence if "decoder.cross" in reader.abilities.heads else None)
    spans = encoder_span_rows([read], len(read.source_ids))
    rows = spans.rows[0].tolist()
    weights = CandidateWeights.from_rows(
        [measured_rows(reader, trace, site, layer, rows, measure)[None] for layer in range(trace.layers_of(site))],
        spans,
    )
    # Where later tokens are masked, nothing looks from the candidates to a pronoun that follows them.
    return replace(weights, back=None) if site == "decoder.self" else weights


def _measure_cross(translator: Translator, batch: _Batch, measure: Measure, collected: _Collected) -> None:
    """Translate, find the German pronouns, and read the translations up to the rows that predict them."""
    outputs = greedy_search(translator.model, batch.source_ids, batch.padding)
    prefixes: dict[int, list[int]] = {}
    for i, (read, output) in enumerate(zip(batch.cases, outputs, strict=True)):
        pronoun = find_pronoun(translator, read.case, output)
        if isinstance(pronoun, str):
            collected.skipped[CROSS][pronoun] += 1
        else:
            prefixes[i] = [translator.config.bos_id, *output[: pronoun.row]]
    if not prefixes:
        return
    chosen = batch.only(list(prefixes))
    target_ids = pad(list(prefixes.values()), translator.config.pad_id).to(chosen.memory.device)
    with listen(record=RECORDED) as recorded:
        translator.model.decode(target_ids, chosen.memory, chosen.padding)
    last_rows = [len(prefix) - 1 for prefix in prefixes.values()]
    weights = cross_weights(
        site_layers(translator, recorded, CROSS),
        site_layers(translator, chosen.recorded, ENCODER),
        cross_span_rows(chosen.cases, chosen.padding.size(1), last_rows),
        chosen.padding,
        measure,
    )
    collected.add(CROSS, chosen.rows, weights)


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
