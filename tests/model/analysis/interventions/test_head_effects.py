"""Heads switched off and estimated: against single runs and against numerical derivatives."""

import pytest
import torch

from model import Translator
from model.analysis.interventions.contrast import ContrastCase
from model.analysis.interventions.head_effects import (
    RemovalEffect,
    estimate_effects,
    measure_effects,
    preferred,
    remove_heads,
    scores_without,
    translate_without,
)
from model.analysis.interventions.replacement import zero_outputs
from model.analysis.metrics.head_names import HeadName
from model.errors import DataError, EditError
from model.evaluation import translate_all
from model.nn.edit_hooks import Edits
from model.nn.edits import SwitchOff
from model.nn.encoder_decoder import SITES, site_path
from model.pairs import Pair
from tests.conftest import SENTENCES
from tests.model.analysis.interventions.cases import CASES, HEADS, indices, log_odds


def test_each_change_is_that_of_two_runs_with_the_head_switched_off(translator: Translator) -> None:
    done: list[int] = []
    effects = measure_effects(translator, CASES, zero_outputs(translator.config), progress=done.append)
    assert effects.changes.shape == (2, 3, 2, 4)
    assert sum(done) == effects.changes.numel()
    for number, case in enumerate(CASES):
        intact = log_odds(translator, case, [])
        assert float(effects.intact[number]) == pytest.approx(intact, abs=1e-3)
        for head in HEADS:
            change = log_odds(translator, case, [SwitchOff(*head)]) - intact
            assert float(effects.changes[(number, *indices(head))]) == pytest.approx(change, abs=2e-4)


def test_with_mean_ablation_the_head_gives_its_mean_in_every_row(translator: Translator, means: torch.Tensor) -> None:
    effects = measure_effects(translator, CASES, means)
    for head in HEADS:

        def give_mean(output: torch.Tensor, head: HeadName = head) -> torch.Tensor:
            changed = output.clone()
            for row in range(output.size(2)):
                changed[:, head.head, row] = means[indices(head)]
            return changed

        edits = {f"{site_path(head.site, head.layer)}.hook_head_output": give_mean}
        change = log_odds(translator, CASES[0], edits) - log_odds(translator, CASES[0], {})
        assert float(effects.changes[(0, *indices(head))]) == pytest.approx(change, abs=2e-4)


@pytest.mark.parametrize("kind", ["zero", "mean"])
def test_the_estimate_is_the_slope_of_the_log_odds_where_the_head_begins_to_fade(
    translator: Translator, means: torch.Tensor, kind: str
) -> None:
    replacement = means if kind == "mean" else zero_outputs(translator.config)
    estimate = estimate_effects(translator, CASES, replacement)
    assert estimate.intact.tolist() == pytest.approx([log_odds(translator, case, {}) for case in CASES], abs=1e-3)
    step = 0.001  # so small that hardly any ReLU changes sides on the way
    for head in HEADS:

        def faded(share: float, head: HeadName = head) -> Edits:
            def fade(output: torch.Tensor) -> torch.Tensor:
                changed = output.clone()
                own = output[:, head.head]
                changed[:, head.head] = own + share * (replacement[indices(head)] - own)
                return changed

            return {f"{site_path(head.site, head.layer)}.hook_head_output": fade}

        for number, case in enumerate(CASES):
            # Symmetric, so that what is left out is of third order.
            ahead, behind = (log_odds(translator, case, faded(share)) for share in (step, -step))
            slope = (ahead - behind) / (2 * step)
            assert float(estimate.changes[(number, *indices(head))]) == pytest.approx(slope, rel=0.01, abs=4e-3)


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


def test_a_choice_flips_where_the_other_translation_is_preferred_without_the_head(translator: Translator) -> None:
    effects = measure_effects(translator, CASES, zero_outputs(translator.config))
    for number, intact in enumerate(effects.intact.tolist()):
        without = intact + effects.changes[number]
        assert effects.flips[number].tolist() == ((without <= 0) if intact > 0 else (without > 0)).tolist()
    removal = RemovalEffect(intact=torch.tensor([1.0, 1.0, -1.0]), removed=torch.tensor([0.5, -0.5, 0.5]))
    assert removal.flips.tolist() == [False, True, True]


def test_a_translation_without_heads_is_that_of_a_session_that_switches_them_off(translator: Translator) -> None:
    heads = [HeadName(site, layer, 1) for site in SITES for layer in range(2)]
    session = translator.decode(SENTENCES[0], edits=[SwitchOff(*head) for head in heads])
    session.run()
    zero = zero_outputs(translator.config)
    without = translate_without(translator, SENTENCES[0], heads, zero)
    assert without == session.translation
    assert without != translate_without(translator, SENTENCES[0], [], zero) == translator.translate(SENTENCES[0])


def test_scores_are_those_of_the_translations_without_the_heads(translator: Translator) -> None:
    heads = [HeadName(site, layer, head) for site in SITES for layer in range(2) for head in (0, 2)]
    zero = zero_outputs(translator.config)
    texts = [SENTENCES[0], SENTENCES[4]]
    without = [translator.decode(text, edits=[SwitchOff(*head) for head in heads]) for text in texts]
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
