"""One pronoun's row in a trace: the same figures as those measured over a set, and movements by hand."""

from dataclasses import replace

import pytest
import torch

from model import Translator
from model.analysis.coreference.cases import GermanChoice, PronounCase, PronounCases
from model.analysis.coreference.measure import RECORDED, measure_coreference
from model.analysis.coreference.pronoun_rows import candidate_weights, measured_rows, movement, pronoun_rows
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
from model.nn.hooks import listen
from model.trace.trace import Trace

TEXT = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def case() -> PronounCase:
    spans = [(TEXT.index(phrase), TEXT.index(phrase) + len(phrase)) for phrase in ("it was", "The animal", "street")]
    return PronounCase(TEXT, (spans[0][0], spans[0][0] + 2), spans[1], spans[2])


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace(TEXT)


def recorded(translator: Translator, trace: Trace) -> tuple[dict[str, list[torch.Tensor]], torch.Tensor]:
    """Everything that the set's own measurement records, of this one sentence."""
    source, target = (torch.tensor([ids]) for ids in (trace.source_ids, trace.target_ids))
    padding = torch.ones_like(source, dtype=torch.bool)
    with listen(record=RECORDED) as heard, torch.inference_mode():
        translator.model.decode(target, translator.model.encode(source, padding), padding)
    return heard, padding


def heads_of(weights: CandidateWeights) -> torch.Tensor:
    """Without the mean over heads, which stands last; a rollout has only that."""
    return weights.to[0, :, :-1]


@pytest.mark.parametrize("measure", ["raw", "norm", "rollout"])
def test_a_sentence_has_the_figures_that_are_measured_over_a_set(
    translator: Translator, trace: Trace, case: PronounCase, measure: Measure
) -> None:
    read = read_case(translator, case)
    assert isinstance(read, ReadCase)
    heard, padding = recorded(translator, trace)
    layers = site_layers(translator, heard, "encoder.self")
    expected = encoder_weights(layers, encoder_span_rows([read], padding.size(1)), padding, measure)
    rows = pronoun_rows(translator, trace, case, "encoder.self")
    assert not isinstance(rows, str)
    found = candidate_weights(translator, trace, "encoder.self", rows, read.pieces[1:], measure)
    torch.testing.assert_close(found, heads_of(expected))


@pytest.mark.parametrize("measure", ["raw", "norm", "rollout"])
def test_so_it_has_in_cross_attention(
    translator: Translator, trace: Trace, case: PronounCase, measure: Measure
) -> None:
    read = read_case(translator, case)
    assert isinstance(read, ReadCase)
    heard, padding = recorded(translator, trace)
    cross, encoder = (site_layers(translator, heard, site) for site in ("decoder.cross", "encoder.self"))
    expected = cross_weights(cross, encoder, cross_span_rows([read], padding.size(1), [3]), padding, measure)
    found = candidate_weights(translator, trace, "decoder.cross", (3,), read.pieces[1:], measure)
    torch.testing.assert_close(found, heads_of(expected))


def test_the_strongest_word_is_found_among_all_words_of_a_candidate(
    translator: Translator, trace: Trace, case: PronounCase
) -> None:
    read = read_case(translator, case)
    assert isinstance(read, ReadCase)
    assert [len(words) for words in read.words] == [2, 1]
    heard, padding = recorded(translator, trace)
    layers = site_layers(translator, heard, "encoder.self")
    found = encoder_weights(layers, encoder_span_rows([read], padding.size(1)), padding, "raw").strongest_word
    for layer in range(len(layers)):
        asked = trace.weights("encoder.self", layer)[:, list(read.pieces[0])].mean(1)
        of_words = [[asked[:, list(word)].sum(-1) for word in words] for words in read.words]
        expected = torch.stack([torch.stack(words).amax(0) for words in of_words], -1)
        torch.testing.assert_close(found[0, layer, :-1], expected)


def test_a_pronoun_of_several_pieces_is_averaged_and_a_candidate_summed(translator: Translator, trace: Trace) -> None:
    weights = trace.weights("encoder.self", 1)
    found = candidate_weights(translator, trace, "encoder.self", (2, 5), [(0, 1), (7,)], "raw")[1]
    torch.testing.assert_close(found[:, 0], (weights[:, 2, 0] + weights[:, 2, 1] + weights[:, 5, :2].sum(-1)) / 2)
    torch.testing.assert_close(found[:, 1], (weights[:, 2, 7] + weights[:, 5, 7]) / 2)


def test_rows_are_the_traces_own(translator: Translator, trace: Trace) -> None:
    found = measured_rows(translator, trace, "decoder.cross", 0, (1, 4), "raw")
    torch.testing.assert_close(found, trace.weights("decoder.cross", 0)[:, [1, 4]])


def test_a_head_that_turns_altogether_moves_by_two_and_one_that_does_not_by_nothing() -> None:
    first, second = torch.tensor([[1.0, 0.0], [0.7, 0.1], [0.0, 0.5]]), torch.tensor([[1.0, 0.0], [0.1, 0.7], [0.2, 0]])
    torch.testing.assert_close(movement(first, second), torch.tensor([2.0, 0.0, -0.3]))


def test_the_reason_is_given_where_the_translation_has_no_such_pronoun(
    translator: Translator, trace: Trace, case: PronounCase
) -> None:
    assert isinstance(pronoun_rows(translator, trace, case, "decoder.cross"), str)


def test_german_is_not_looked_for_in_what_a_translator_of_another_language_writes(
    translator: Translator, trace: Trace, case: PronounCase
) -> None:
    french = Translator(translator.model, translator.tokenizer, languages=("en", "fr"))
    assert "German only" in str(pronoun_rows(french, trace, case, "decoder.cross"))
    assert pronoun_rows(french, trace, case, "encoder.self") == pronoun_rows(translator, trace, case, "encoder.self")
    german = replace(case, german=GermanChoice("weil es müde war.", "weil sie müde war."))
    scores = measure_coreference(french, PronounCases((german,)))
    assert set(scores.sites) == {"encoder.self"}
    assert scores.contrast is None
