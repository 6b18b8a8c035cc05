"""Pronouns and candidates: what is read, what a head that was told where to look scores, and the baselines."""

from dataclasses import replace
from typing import get_args

import pytest
import torch

from model import Transformer, Translator
from model.analysis.coreference.cases import GermanChoice, PronounCases, RejectedLine
from model.analysis.coreference.measure import measure_coreference
from model.analysis.coreference.pronoun_choice import NOT_FOUND
from model.analysis.coreference.pronoun_rows import Measure
from model.analysis.metrics.measures import rollout_at, value_weighted_norms
from model.errors import CancelledError, DataError
from model.words import attention_between_words, pieces_of_spans
from tests.model.analysis.coreference.rows import CASE


@pytest.mark.parametrize("measure", get_args(Measure))
def test_weights_of_a_batch_are_those_of_each_trace(translator: Translator, measure: Measure) -> None:
    cases = [CASE, replace(CASE, sentence=f"{CASE.sentence} And so the man told the animal tomorrow.")]
    scores = measure_coreference(translator, PronounCases(tuple(cases)), sites=["encoder.self"], measure=measure)
    found = scores.sites["encoder.self"].weights
    for row, case in enumerate(cases):
        trace = translator.trace(case.sentence, ".")
        pieces = pieces_of_spans(translator.tokenizer.offsets(case.sentence), case.spans)
        for layer in range(2):
            weights = trace.weights("encoder.self", layer)
            if measure == "rollout":
                weights = rollout_at(trace, "encoder.self", layer)[None]
            elif measure == "norm":
                values = trace.attention("encoder.self", layer).values()
                weights = value_weighted_norms(weights, values, translator.output_projection("encoder.self", layer))
            between = attention_between_words(weights, pieces, pieces)
            torch.testing.assert_close(found.to[row, layer, :-1], between[:, 0, 1:], rtol=0, atol=1e-5)
            if measure == "raw":
                assert found.back is not None
                torch.testing.assert_close(found.to[row, layer, 4], between[:, 0, 1:].mean(0), rtol=0, atol=1e-5)
                torch.testing.assert_close(found.back[row, layer, :4], between[:, 1:, 0], rtol=0, atol=1e-5)


def test_cross_attention_is_read_at_the_row_that_predicts_the_pronoun(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    german = translator.tokenizer.encode("Das Tier überquerte die Straße nicht, weil es zu müde war.")
    row = next(i for i in range(len(german)) if "weil e" in translator.tokenizer.decode(german[: i + 1]))
    monkeypatch.setattr("model.decoding.side_by_side.greedy_search", lambda *_: [german, german])
    cases = (CASE, replace(CASE, sentence=f"{CASE.sentence} And so."))
    scores = measure_coreference(translator, PronounCases(cases), sites=["decoder.cross"])
    found = scores.sites["decoder.cross"].weights
    assert found.back is None
    for i, case in enumerate(cases):
        trace = translator.trace_tokens(case.sentence, [*german, translator.config.eos_id])
        pieces = pieces_of_spans(translator.tokenizer.offsets(case.sentence), case.spans)
        for layer in range(2):
            weights = trace.weights("decoder.cross", layer, rows=[row])
            between = attention_between_words(weights, [[0]], pieces)
            torch.testing.assert_close(found.to[i, layer, :4], between[:, 0, 1:], rtol=0, atol=1e-5)


def test_a_translation_without_the_pronoun_is_counted(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    german = translator.tokenizer.encode("Das Tier war müde.")
    monkeypatch.setattr("model.decoding.side_by_side.greedy_search", lambda *_: [german])
    scores = measure_coreference(translator, PronounCases((CASE,)))
    assert list(scores.sites) == ["encoder.self"]
    assert dict(scores.unscored["decoder.cross"]) == {NOT_FOUND: 1}


def test_contrast_is_the_difference_of_two_teacher_forced_passes(translator: Translator) -> None:
    choice = GermanChoice("Das Tier sagte, weil es müde war.", "Das Tier sagte, weil er müde war.")
    cases = (replace(CASE, german=choice), CASE, replace(CASE, sentence=f"{CASE.sentence} So.", german=choice))
    contrast = measure_coreference(translator, PronounCases(cases), sites=["encoder.self"]).contrast
    assert contrast is not None
    assert len(contrast.cases) == 2
    for case, margin in zip(contrast.cases, contrast.margins.tolist(), strict=True):
        right, wrong = (
            sum(step.log_prob for step in translator.trace(case.sentence, text).steps)
            for text in (choice.right, choice.wrong)
        )
        assert margin == pytest.approx(right - wrong, abs=1e-4)
    assert measure_coreference(translator, PronounCases((CASE,)), sites=["encoder.self"]).contrast is None


@pytest.mark.parametrize("calls", [1, 2, 3], ids=["before the first sentence", "after it", "between the scores"])
def test_a_measurement_can_be_ended_wherever_it_takes_long(translator: Translator, calls: int) -> None:
    counts: list[int] = []

    def progress(count: int) -> None:
        counts.append(count)
        if len(counts) == calls:
            raise CancelledError("enough")

    with pytest.raises(CancelledError, match="enough"):
        measure_coreference(translator, PronounCases((CASE,)), progress=progress)
    assert counts == [0, 1, 0][:calls]


def test_a_site_that_is_not_scored_is_refused(translator: Translator) -> None:
    with pytest.raises(DataError, match=r"encoder\.self and decoder\.cross, got decoder\.self"):
        measure_coreference(translator, PronounCases((CASE,)), sites=["decoder.self"])


def test_sentences_that_the_model_refuses_are_counted(translator: Translator) -> None:
    long = replace(CASE, sentence=CASE.sentence + " word" * 100)
    given = PronounCases((long, CASE), (RejectedLine(3, "reason"), RejectedLine(4, "reason")))
    scores = measure_coreference(translator, given)
    assert (len(scores.cases), scores.skipped_rows) == (1, 3)
    assert scores.skipped["reason"] == 2
    with pytest.raises(DataError, match="No row could be scored"):
        measure_coreference(translator, PronounCases((long,)))


def test_no_rollout_is_measured_of_a_model_without_residual_connections(translator: Translator) -> None:
    torch.manual_seed(1)
    model = Transformer(replace(translator.config, residual=False))
    bare = Translator(model, translator.tokenizer, name="no-residual")
    assert "rollout" in bare.abilities.lacks
    with pytest.raises(DataError, match="without residual connections"):
        measure_coreference(bare, PronounCases((CASE,)), sites=["encoder.self"], measure="rollout")
