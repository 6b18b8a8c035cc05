"""Measure every head of a model that only reads: does it look from a pronoun to what that stands for?

The same metrics as `measure_translator` gives, of the one attention that reads the sentence, sentence by
sentence from its trace.
"""

from collections import Counter
from dataclasses import replace
from types import MappingProxyType

from model.analysis.coreference.cases import PronounCase, PronounCases
from model.analysis.coreference.measure_translator import CoreferenceScores
from model.analysis.coreference.pronoun_rows import measured_rows
from model.analysis.coreference.scores import score_site
from model.analysis.coreference.span_attention import CandidateWeights, Measure, encoder_span_rows, read_case
from model.analysis.corpus import Progress
from model.errors import DataError
from model.reader import Reader


def measure_reading(
    reader: Reader, given: PronounCases, *, measure: Measure = "raw", progress: Progress = lambda done: None
) -> CoreferenceScores:
    """Score all heads of the attention that reads the sentence: encoder.self, or decoder.self of a decoder alone.

    Arguments are those of `measure_coreference`; `progress` is called after each sentence.

    Raises:
        DataError: no sentence could be scored.
    """
    site = next(iter(reader.abilities.heads))
    skipped = Counter(given.skipped)
    cases: list[PronounCase] = []
    parts: list[CandidateWeights] = []
    for case in given.cases:
        weights = _weights(reader, case, site, measure)
        if isinstance(weights, str):
            skipped[weights] += 1
        else:
            cases.append(case)
            parts.append(weights)
        progress(1)
    if not parts:
        raise DataError("No row could be scored: {skipped}.", skipped=", ".join(skipped))
    scores = score_site(site, measure, cases, CandidateWeights.joined(parts), {}, progress)
    if scores is None:
        raise DataError("No row could be scored: all are controls.")
    return CoreferenceScores(
        measure=measure,
        cases=tuple(cases),
        skipped=MappingProxyType(dict(skipped)),
        sites=MappingProxyType({site: scores}),
        unscored=MappingProxyType({site: MappingProxyType({})}),
        contrast=None,
    )


def _weights(reader: Reader, case: PronounCase, site: str, measure: Measure) -> CandidateWeights | str:
    read = read_case(reader, case)
    if isinstance(read, str):
        return read
    # An encoder reads the sentence whatever its decoder writes.
    trace = reader.trace(case.sentence, case.sentence if "decoder.cross" in reader.abilities.heads else None)
    spans = encoder_span_rows([read], len(read.source_ids))
    rows = spans.rows[0].tolist()
    weights = CandidateWeights.from_rows(
        [measured_rows(reader, trace, site, layer, rows, measure)[None] for layer in range(trace.layers_of(site))],
        spans,
    )
    # Where later tokens are masked, nothing looks from the candidates to a pronoun that follows them.
    return replace(weights, back=None) if site == "decoder.self" else weights
