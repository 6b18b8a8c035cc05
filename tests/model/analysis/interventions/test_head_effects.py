"""Heads switched off and estimated: against single runs and against numerical derivatives."""

import pytest
import torch

from model import Translator
from model.analysis.corpus import CorpusSentence
from model.analysis.interventions.contrast import ContrastCase
from model.analysis.interventions.head_effects import (
    estimate_effects,
    measure_effects,
    preferred,
    remove_heads,
    scores_without,
)
from model.analysis.interventions.replacement import mean_outputs, removal_edits, zero_outputs
from model.analysis.metrics.head_names import HeadName, all_heads
from model.errors import DataError, EditError
from model.evaluation import translate_all
from model.nn.edit_hooks import Edits
from model.nn.edits import SwitchOff
from model.nn.transformer import SITES, site_path
from model.pairs import Pair
from tests.conftest import SENTENCES

CASES = [
    ContrastCase(SENTENCES[0], "Das Tier war müde, weil es lief.", "Das Tier war müde, weil sie lief."),
    ContrastCase("Tom told me.", "Tom sagte mir, dass er morgen kommen würde.", "Tom sagte mir."),
]
CORPUS = [CorpusSentence(SENTENCES[2], SENTENCES[3]), CorpusSentence(SENTENCES[4]), CorpusSentence(SENTENCES[6], "Ja.")]
PLACES = [HeadName("encoder.self", 0, 3), HeadName("decoder.self", 1, 0), HeadName("decoder.cross", 0, 2)]


@pytest.fixture(scope="module")
def means(translator: Translator) -> torch.Tensor:
    return mean_outputs(translator, CORPUS)


def log_odds(translator: Translator, case: ContrastCase, edits: Edits) -> float:
    right, wrong = (
        sum(step.log_prob for step in translator.trace(case.source, target, edits=edits).steps) for target in case[1:]
    )
    return right - wrong


def indices(place: HeadName) -> tuple[int, int, int]:
    return SITES.index(place.site), place.layer, place.head


@pytest.mark.parametrize("place", PLACES)
def test_the_mean_is_that_over_all_rows_of_all_sentences(
    translator: Translator, means: torch.Tensor, place: HeadName
) -> None:
    traces = [translator.trace(sentence.text, sentence.target) for sentence in CORPUS]
    rows = torch.cat([trace.head_output(place.site, place.layer, [place.head])[0] for trace in traces])
    torch.testing.assert_close(means[indices(place)], rows.mean(0), atol=1e-5, rtol=1e-4)


def test_each_change_is_that_of_two_runs_with_the_head_switched_off(translator: Translator) -> None:
    done: list[int] = []
    effects = measure_effects(translator, CASES, zero_outputs(translator.config), progress=done.append)
    assert effects.changes.shape == (2, 3, 2, 4)
    assert sum(done) == effects.changes.numel()
    for number, case in enumerate(CASES):
        intact = log_odds(translator, case, [])
        assert float(effects.intact[number]) == pytest.approx(intact, abs=1e-3)
        for place in PLACES:
            change = log_odds(translator, case, [SwitchOff(*place)]) - intact
            assert float(effects.changes[(number, *indices(place))]) == pytest.approx(change, abs=2e-4)


def test_with_mean_ablation_the_head_gives_its_mean_in_every_row(translator: Translator, means: torch.Tensor) -> None:
    effects = measure_effects(translator, CASES, means)
    for place in PLACES:

        def give_mean(output: torch.Tensor, place: HeadName = place) -> torch.Tensor:
            changed = output.clone()
            for row in range(output.size(2)):
                changed[:, place.head, row] = means[indices(place)]
            return changed

        edits = {f"{site_path(place.site, place.layer)}.hook_head_output": give_mean}
        change = log_odds(translator, CASES[0], edits) - log_odds(translator, CASES[0], {})
        assert float(effects.changes[(0, *indices(place))]) == pytest.approx(change, abs=2e-4)


@pytest.mark.parametrize("kind", ["zero", "mean"])
def test_the_estimate_is_the_slope_of_the_log_odds_where_the_head_begins_to_fade(
    translator: Translator, means: torch.Tensor, kind: str
) -> None:
    replacement = means if kind == "mean" else zero_outputs(translator.config)
    estimate = estimate_effects(translator, CASES, replacement)
    assert estimate.intact.tolist() == pytest.approx([log_odds(translator, case, {}) for case in CASES], abs=1e-3)
    step = 0.003  # so small that hardly any ReLU changes sides on the way
    for place in PLACES:

        def faded(share: float, place: HeadName = place) -> Edits:
            def fade(output: torch.Tensor) -> torch.Tensor:
                changed = output.clone()
                own = output[:, place.head]
                changed[:, place.head] = own + share * (replacement[indices(place)] - own)
                return changed

            return {f"{site_path(place.site, place.layer)}.hook_head_output": fade}

        for number, case in enumerate(CASES):
            # Symmetric, so that what is left out is of third order.
            ahead, behind = (log_odds(translator, case, faded(share)) for share in (step, -step))
            slope = (ahead - behind) / (2 * step)
            assert float(estimate.changes[(number, *indices(place))]) == pytest.approx(slope, rel=0.01, abs=4e-3)


def test_the_estimate_leaves_no_gradient_on_the_model(translator: Translator) -> None:
    estimate_effects(translator, CASES, zero_outputs(translator.config))
    assert all(parameter.grad is None for parameter in translator.model.parameters())


def test_importance_and_accuracy_follow_from_the_changes(translator: Translator) -> None:
    effects = measure_effects(translator, CASES, zero_outputs(translator.config))
    torch.testing.assert_close(effects.importance, (effects.changes[0].abs() + effects.changes[1].abs()) / 2)
    assert effects.accuracy == float((effects.intact > 0).float().mean())
    without = (effects.intact[:, None, None, None] + effects.changes > 0).float().mean(0)
    torch.testing.assert_close(effects.accuracy_changes, without - effects.accuracy)
    assert preferred(torch.tensor([2.0, 0.0, -1.0])).tolist() == [1, 0.5, 0]


def test_a_set_of_heads_is_switched_off_at_once(translator: Translator) -> None:
    zero = zero_outputs(translator.config)
    effect = remove_heads(translator, CASES, PLACES, zero)
    for number, case in enumerate(CASES):
        removed = log_odds(translator, case, [SwitchOff(*place) for place in PLACES])
        assert float(effect.removed[number]) == pytest.approx(removed, abs=1e-3)
        assert float(effect.changes[number]) == pytest.approx(removed - log_odds(translator, case, {}), abs=1e-3)
    one = remove_heads(translator, CASES, PLACES[:1], zero)
    swept = measure_effects(translator, CASES, zero).changes[(slice(None), *indices(PLACES[0]))]
    torch.testing.assert_close(one.changes, swept, atol=2e-4, rtol=1e-3)


def test_without_any_head_the_source_does_not_matter(translator: Translator) -> None:
    """All three sites give nothing, so the decoder sees only its own row."""
    everything = frozenset(all_heads(translator.config))
    zero = zero_outputs(translator.config)
    other = [case._replace(source="She gave her sister the book.") for case in CASES]
    here, there = (remove_heads(translator, cases, everything, zero) for cases in (CASES, other))
    torch.testing.assert_close(here.removed, there.removed, atol=1e-4, rtol=0)
    assert float((here.intact - there.intact).abs().min()) > 1e-3


def test_edits_of_a_removal_are_right_step_by_step_too(translator: Translator, means: torch.Tensor) -> None:
    edits = removal_edits(translator.config, PLACES, means)
    session = translator.decode(SENTENCES[0], edits=edits)
    session.run()
    emitted = [step.token_id for step in session.steps]
    trace = translator.trace_tokens(SENTENCES[0], emitted, edits=edits)
    assert [step.log_prob for step in session.steps] == pytest.approx([s.log_prob for s in trace.steps], abs=1e-4)


def test_scores_are_those_of_the_translations_without_the_heads(translator: Translator) -> None:
    heads = [HeadName(site, layer, head) for site in SITES for layer in range(2) for head in (0, 2)]
    zero = zero_outputs(translator.config)
    texts = [SENTENCES[0], SENTENCES[4]]
    without = [translator.decode(text, edits=[SwitchOff(*place) for place in heads]) for text in texts]
    for session in without:
        session.run()
    intact = translate_all(translator.model, translator.tokenizer, texts)
    assert intact != [session.translation for session in without]
    pairs = [Pair(text, session.translation) for text, session in zip(texts, without, strict=True)]
    # BLEU of translations that are one endless word is 0; chrF is not.
    assert scores_without(translator, pairs, heads, zero).chrf == pytest.approx(100)
    assert scores_without(translator, pairs, [], zero).chrf < 100


def test_unknown_heads_and_cases_without_a_choice_are_refused(translator: Translator) -> None:
    zero = zero_outputs(translator.config)
    with pytest.raises(EditError, match="There is no head 4"):
        remove_heads(translator, CASES, [HeadName("encoder.self", 0, 4)], zero)
    with pytest.raises(DataError, match="that differ"):
        measure_effects(translator, [ContrastCase("Tom.", "Ja.", "Ja.")], zero)
