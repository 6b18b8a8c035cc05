"""One pronoun in a trace: the figures are those measured over a set, and the head that looks most from it."""

from dataclasses import replace
from typing import get_args

import pytest
import torch

from model import Translator
from model.analysis.coreference.case_files import GermanChoice, PronounCase, PronounCases
from model.analysis.coreference.measure import measure_coreference
from model.analysis.coreference.pronoun_rows import (
    CandidateWeights,
    Measure,
    ReadCase,
    candidate_weights,
    pronoun_link,
    pronoun_rows,
    read_case,
    written_step,
)
from model.trace.trace import Trace
from model.words import Span, pieces_of_spans

TEXT = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def case() -> PronounCase:
    spans = [(TEXT.index(phrase), TEXT.index(phrase) + len(phrase)) for phrase in ("it was", "The animal", "street")]
    return PronounCase(TEXT, (spans[0][0], spans[0][0] + 2), spans[1], spans[2])


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace(TEXT)


def of_set(translator: Translator, case: PronounCase, site: str, measure: Measure) -> CandidateWeights:
    """What is measured over a set: here of this sentence beside a longer one."""
    longer = replace(case, sentence=f"{TEXT} And so the man told the animal tomorrow.")
    scores = measure_coreference(translator, PronounCases((longer, case)), sites=[site], measure=measure)
    return scores.sites[site].weights.reordered(torch.tensor([1]))


def heads_of(weights: CandidateWeights) -> torch.Tensor:
    """Without the mean over heads, which stands last; a rollout has only that."""
    return weights.to[0, :, :-1]


@pytest.mark.parametrize("measure", get_args(Measure))
@pytest.mark.parametrize("site", ["encoder.self", "decoder.cross"])
def test_a_sentence_has_the_figures_that_are_measured_over_a_set(
    translator: Translator, case: PronounCase, measure: Measure, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    german = translator.tokenizer.encode("Das Tier ging nicht, weil es müde war.")
    monkeypatch.setattr("model.decoding.side_by_side.greedy_search", lambda *_: [german, german])
    read = read_case(translator, case)
    assert isinstance(read, ReadCase)
    trace = translator.trace_tokens(TEXT, [*german, translator.config.eos_id])
    rows = pronoun_rows(translator, trace, case, site)
    assert not isinstance(rows, str)
    found = candidate_weights(translator, trace, site, rows, read.pieces[1:], measure)
    torch.testing.assert_close(found, heads_of(of_set(translator, case, site, measure)))


def test_the_strongest_word_is_found_among_all_words_of_a_candidate(
    translator: Translator, trace: Trace, case: PronounCase
) -> None:
    read = read_case(translator, case)
    assert isinstance(read, ReadCase)
    offsets, begin = translator.tokenizer.offsets(TEXT), TEXT.index("the street")
    both = read_case(translator, replace(case, distractor=(begin, begin + len("the street"))))
    assert isinstance(both, ReadCase)
    spans = [(0, 3), (4, 10), (begin, begin + 3), (begin + 4, begin + 10)]
    assert [word for words in both.words for word in words] == [tuple(of) for of in pieces_of_spans(offsets, spans)]
    assert [len(words) for words in read.words] == [2, 1]
    found = of_set(translator, case, "encoder.self", "raw").strongest_word
    for layer in range(trace.layers_of("encoder.self")):
        asked = trace.weights("encoder.self", layer)[:, list(read.pieces[0])].mean(1)
        of_words = [[asked[:, list(word)].sum(-1) for word in words] for words in read.words]
        expected = torch.stack([torch.stack(words).amax(0) for words in of_words], -1)
        torch.testing.assert_close(found[0, layer, :-1], expected)


def test_a_pronoun_of_several_pieces_is_averaged_and_a_candidate_summed(translator: Translator, trace: Trace) -> None:
    weights = trace.weights("encoder.self", 1)
    found = candidate_weights(translator, trace, "encoder.self", (2, 5), [(0, 1), (7,)], "raw")[1]
    torch.testing.assert_close(found[:, 0], (weights[:, 2, 0] + weights[:, 2, 1] + weights[:, 5, :2].sum(-1)) / 2)
    torch.testing.assert_close(found[:, 1], (weights[:, 2, 7] + weights[:, 5, 7]) / 2)


def test_german_is_not_looked_for_in_what_a_translator_of_another_language_writes(
    translator: Translator, trace: Trace, case: PronounCase
) -> None:
    french = Translator(translator.model, translator.tokenizer, languages=("en", "fr"))
    assert "translators into German" in str(pronoun_rows(french, trace, case, "decoder.cross"))
    assert pronoun_rows(french, trace, case, "encoder.self") == pronoun_rows(translator, trace, case, "encoder.self")
    german = replace(case, german=GermanChoice("weil es müde war.", "weil sie müde war."))
    scores = measure_coreference(french, PronounCases((german,)))
    assert set(scores.sites) == {"encoder.self"}
    assert scores.contrast is None


def span(phrase: str) -> Span:
    begin = TEXT.index(f" {phrase} ") + 1
    return begin, begin + len(phrase)


PRONOUN, ANIMAL, STREET = map(span, ("it", "animal", "street"))


def every_weight(translator: Translator, trace: Trace, candidates: list[Span]) -> list[tuple[float, str, int, int]]:
    """Of every head of the encoder, to every candidate, one by one."""
    pronoun, *others = pieces_of_spans(translator.tokenizer.offsets(TEXT), [PRONOUN, *candidates])
    found = []
    for layer in range(trace.layers_of("encoder.self")):
        for head, matrix in enumerate(trace.weights("encoder.self", layer).tolist()):
            for name, keys in zip(candidates, others, strict=True):
                weight = sum(matrix[row][key] for row in pronoun for key in keys) / len(pronoun)
                found.append((weight, TEXT[slice(*name)], layer, head))
    return found


@pytest.mark.parametrize("candidates", [[ANIMAL], [STREET], [ANIMAL, STREET]])
def test_no_head_puts_more_on_any_candidate(translator: Translator, trace: Trace, candidates: list[Span]) -> None:
    link = pronoun_link(translator, trace, PRONOUN, candidates)
    assert link is not None
    best = max(every_weight(translator, trace, candidates))
    assert link.weight == pytest.approx(best[0])
    assert (link.antecedent, link.layer, link.head) == best[1:]
    assert (link.site, link.pronoun, link.written) == ("encoder.self", "it", "")


def test_pronoun_and_antecedent_are_named_as_their_tokens_spell_them(translator: Translator, trace: Trace) -> None:
    link = pronoun_link(translator, trace, (PRONOUN[0], PRONOUN[1] - 1), [ANIMAL])
    assert link is not None
    assert (link.pronoun, link.antecedent) == ("it", "animal")


GERMAN = "Das Tier ging nicht, weil es müde war."


def test_the_german_word_is_looked_from_at_the_row_that_predicts_it(translator: Translator) -> None:
    ids = translator.tokenizer.encode(GERMAN)
    trace = translator.trace_tokens(TEXT, [*ids, translator.config.eos_id])
    row = next(i for i in range(len(ids)) if translator.tokenizer.decode(ids[: i + 1]).endswith("weil es"))
    assert row > 1
    assert written_step(translator, trace, PRONOUN) == (row, "es")
    assert (
        written_step(Translator(translator.model, translator.tokenizer, languages=("en", "fr")), trace, PRONOUN) is None
    )
    link = pronoun_link(translator, trace, PRONOUN, [ANIMAL])
    assert link is not None
    assert link.step == row


def test_a_pronoun_of_several_pieces_looks_from_its_last(translator: Translator, trace: Trace) -> None:
    phrase = span("because it was too")
    (pieces,) = pieces_of_spans(translator.tokenizer.offsets(TEXT), [phrase])
    assert len(pieces) > 2
    link = pronoun_link(translator, trace, phrase, [ANIMAL])
    assert link is not None
    assert (link.row, link.pronoun_row, link.step) == (pieces[-1], pieces[-1], None)


def test_without_a_candidate_there_is_no_link(translator: Translator, trace: Trace) -> None:
    assert pronoun_link(translator, trace, PRONOUN, []) is None


def test_a_translation_without_the_pronoun_has_no_step(translator: Translator, trace: Trace) -> None:
    assert written_step(translator, trace, ANIMAL) is None
