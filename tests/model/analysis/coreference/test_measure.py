"""Pronouns and candidates measured: weights of batches, scores of a head that was told where to look, baselines."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import product
from typing import get_args

import pytest
import torch

from model import Transformer, Translator
from model.analysis.coreference.case_files import GermanChoice, PronounCase, PronounCases, RejectedLine
from model.analysis.coreference.measure import (
    first_hit,
    half_of,
    held_out_heads,
    measure_coreference,
    nearest_hit,
    score_site,
)
from model.analysis.coreference.pronoun_choice import NOT_FOUND, WrittenPronoun, pronoun_choice
from model.analysis.coreference.pronoun_rows import CandidateWeights, Measure
from model.analysis.held_out import score_twins
from model.analysis.metrics.measures import rollout_at, value_weighted_norms
from model.errors import CancelledError, DataError
from model.training.pronouns import held_out_twins, pronouns_in
from model.words import attention_between_words, pieces_of_spans
from tests.model.analysis.coreference.test_case_files import CASE


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
    assert float(contrast.accuracy.value) == float((contrast.margins > 0).float().mean())
    assert float(contrast.margin.value) == pytest.approx(float(contrast.margins.mean()))
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


def planted_weights(cases: list[PronounCase]) -> CandidateWeights:
    """Head 1.3 looks at the antecedent, head 0.0 at the distractor; all others look at both alike."""
    to = torch.full((len(cases), 2, 5, 2), 0.1)
    to[:, 1, 3] = torch.tensor([0.7, 0.2])
    to[:, 0, 0] = torch.tensor([0.2, 0.7])
    return CandidateWeights(to, to.flip(-1), 1 - to)


def test_every_metric_is_counted_case_by_case() -> None:
    to, word, back = torch.rand(3, 9, 2, 5, 2, generator=torch.Generator().manual_seed(29))
    cases = [
        replace(CASE, pair=f"pair {i // 2}", group="abb"[i % 3], is_control=i in (2, 5, 8), is_dropped=i in (2, 8))
        for i in range(9)
    ]
    scores = score_site("encoder.self", "raw", cases, CandidateWeights(to, word, back), {})
    assert scores is not None
    assert scores.reverse is not None
    assert scores.controls is not None
    assert scores.controls.accuracy is not None
    scored = [i for i, case in enumerate(cases) if not case.is_control]

    def share(weights: torch.Tensor, rows: list[int], *at: int) -> float:
        return sum(float(weights[(i, *at, 0)] > weights[(i, *at, 1)]) for i in rows) / len(rows)

    for layer, head in product(range(2), range(4)):
        for estimate, weights in ((scores.accuracy, to), (scores.strongest_word, word), (scores.reverse, back)):
            assert float(estimate.value[layer, head]) == pytest.approx(share(weights, scored, layer, head))
        margin = sum(float(to[i, layer, head, 0] - to[i, layer, head, 1]) for i in scored) / 6
        assert float(scores.margin.value[layer, head]) == pytest.approx(margin, abs=1e-6)
        assert float(scores.controls.accuracy[layer, head]) == pytest.approx(share(to, [2, 8], layer, head))
        for group, of_group in scores.of_groups().items():
            rows = [i for i in scored if cases[i].group == group]
            assert float(of_group[layer, head]) == pytest.approx(share(to, rows, layer, head))
    assert set(scores.of_groups()) == {"a", "b"}
    assert scores.head_averaged.tolist() == pytest.approx([share(to, scored, layer, 4) for layer in range(2)])
    assert scores.baselines.mean_of_heads == pytest.approx(share(to[:, :, :4].sum((1, 2)), scored))
    assert scores.controls.dropped == 2


def test_a_head_is_chosen_on_one_half_of_the_pairs_and_scored_on_the_other() -> None:
    names = [f"pair {i}" for i in range(40)]
    halves = [[name for name in names if half_of(name) == half] for half in (0, 1)]
    assert all(half_of(name) == int(sha256(name.encode()).hexdigest()[:2], 16) % 2 for name in names)
    # On the first half head 0.1 is right and the candidate that is nearest is not; on the second head 1.2, once in two.
    pairs = [*halves[0][:4], *halves[1][:2]]
    right = torch.zeros(6, 2, 3)
    right[:4, 0, 1] = right[4, 1, 2] = 1
    nearest = torch.tensor([0.0, 0, 0, 0, 1, 1])
    first, second = held_out_heads(right, nearest, pairs)
    assert [(one.chosen_on, one.head, one.rows) for one in (first, second)] == [(0, (0, 1), 2), (1, (1, 2), 4)]
    assert [(float(one.accuracy.value), one.nearest) for one in (first, second)] == [(0, 1), (0, 0)]
    assert [float(one.gain.value) for one in (first, second)] == [-1, 0]
    # Where neither is better there is no gain.
    assert not second.beats_nearest
    assert len(held_out_heads(right[:5], nearest[:5], pairs[:5])) == 2
    assert held_out_heads(right[:4], nearest[:4], pairs[:4]) == held_out_heads(right[4:], nearest[4:], pairs[4:]) == ()


def test_controls_are_counted_apart() -> None:
    cases = [CASE, replace(CASE, is_control=True), CASE]
    weights = planted_weights(cases)
    weights.to[1] = 0.3
    scores = score_site("encoder.self", "raw", cases, weights, {})
    assert scores is not None
    assert scores.controls is not None
    assert (len(scores.cases), scores.controls.rows) == (2, 1)
    torch.testing.assert_close(scores.controls.weight, torch.full((2, 4), 0.6))
    assert float(scores.controls.weight_of_scored[1, 3]) == pytest.approx(0.9)
    assert score_site("encoder.self", "raw", [replace(CASE, is_control=True)], planted_weights([CASE]), {}) is None


def test_baselines_by_hand() -> None:
    assert (nearest_hit(CASE), first_hit(CASE)) == (0, 1)
    swapped = replace(CASE, antecedent=CASE.distractor, distractor=CASE.antecedent)
    assert (nearest_hit(swapped), first_hit(swapped)) == (1, 0)
    between = PronounCase("Tom saw Ann", (4, 7), (0, 3), (8, 11))
    assert nearest_hit(between) == 0.5


def test_twins_stay_in_one_half() -> None:
    twin = replace(CASE, antecedent=CASE.distractor, distractor=CASE.antecedent)
    assert twin.pair_name == CASE.pair_name
    assert {half_of(f"pair {i}") for i in range(20)} == {0, 1}


TWINS = held_out_twins("combinations", "dev", 20, seed=2)
REFERENCE = {pair.source: pair.target for both in TWINS for pair in both}


def test_references_are_all_right() -> None:
    scores = score_twins(TWINS, lambda texts: [REFERENCE[text] for text in texts])
    assert (scores.cases, scores.right, scores.pairs, scores.both_right) == (40, 1.0, 20, 1.0)


@pytest.mark.parametrize(
    ("german", "pronouns"),
    [
        ("Der Hund schlief, weil er müde war.", ["er"]),
        ("Sie sah ihn, und er half ihr.", ["sie", "ihn", "er", "ihr"]),
        ("Erich erwartet ihren Besuch; es ist esoterisch.", ["es"]),
        ("Ihm? Ja.", ["ihm"]),
        ("", []),
    ],
)
def test_pronouns_are_found_as_whole_words(german: str, pronouns: list[str]) -> None:
    assert pronouns_in(german) == pronouns


def test_a_pronoun_too_many_is_wrong() -> None:
    def doubled(texts: Sequence[str]) -> list[str]:
        return [REFERENCE[text] + " Er auch." for text in texts]

    assert score_twins(TWINS, doubled).right == 0


def test_the_probability_of_each_form_is_that_of_its_whole_word(translator: Translator) -> None:
    german = translator.tokenizer.encode("Das Tier überquerte die Straße nicht, weil es zu müde war.")
    choice = pronoun_choice(translator, translator.trace_tokens(CASE.sentence, german), CASE)
    assert list(choice.probabilities) == ["er", "ihn", "sie", "es"]
    assert isinstance(choice.pronoun, WrittenPronoun)
    assert choice.translation[slice(*choice.pronoun.span)] == "es"
    begin = next(i for i in range(len(german)) if translator.tokenizer.decode(german[:i]).endswith("weil"))
    for form, probability in choice.probabilities.items():
        ids = [*german[:begin], *translator.tokenizer.encode(form)]
        steps = translator.trace_tokens(CASE.sentence, ids).steps[begin:]
        assert probability == pytest.approx(
            torch.tensor([step.log_prob for step in steps]).sum().exp().item(), rel=1e-3
        )
