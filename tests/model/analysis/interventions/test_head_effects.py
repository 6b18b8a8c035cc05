"""Heads of our translator switched off, estimated and patched: against single runs and numerical derivatives.

Both what is compared, whole texts and the first words that differ, in padded batches.
"""

from unittest.mock import Mock

import pytest
import torch

from model import Translator
from model.analysis.interventions import head_effects
from model.analysis.interventions.head_effects import (
    HeadEffects,
    KeptOutputs,
    RemovalEffect,
    Replacement,
    batches,
    copies_at_once,
    estimate_effects,
    heads_off,
    likeliest,
    measure_effects,
    most_heads,
    of_rows,
    remove_heads,
)
from model.analysis.interventions.patching import NO_COUNTERPART, ChoicePair, counterparts, patch_heads
from model.analysis.metrics.head_metrics import HeadName
from model.decoding.search import translate_all
from model.errors import EditError, InputTextError
from model.evaluation import evaluate, evaluate_writer
from model.nn.edit_hooks import Edits
from model.nn.edits import SwitchOff
from model.nn.encoder_decoder import SITES, site_path
from model.nn.hooks import listen
from model.pairs import Pair
from model.word_choice import Choice, TokenPlace, WordChoice
from tests.conftest import SENTENCES
from tests.model.analysis.interventions.conftest import (
    CASES,
    CORPUS,
    HEADS,
    MEASURES,
    Case,
    Measure,
    choices_of,
    log_odds,
    number_of,
)

both_measures = pytest.mark.parametrize("measure", MEASURES)


def test_effects_are_summed_up_over_choices() -> None:
    """Of a choice that is even, half counts as right."""
    intact = torch.tensor([1.0, -0.5, 0.0, 2.0])
    changes = torch.tensor([[-3.0, 0.5], [1.0, 1.0], [-1.0, 0.0], [1.0, -3.0]])
    effects = HeadEffects(intact=intact, changes=changes)
    assert effects.mean_changes.tolist() == [-0.5, -0.375]
    assert effects.importance.tolist() == [1.5, 1.125]
    assert effects.accuracy == 0.625
    # Without the first head the 2nd and the 4th are right; without the other the 1st and the 2nd, and its 3rd is even.
    assert effects.accuracy_changes.tolist() == [-0.125, 0.0]
    assert effects.flips.tolist() == [[True, False], [True, True], [False, False], [False, True]]


def test_the_likeliest_tokens_of_a_place_come_with_their_probabilities(translator: Translator) -> None:
    choice = choices_of(translator, "words")[0]
    assert isinstance(choice, WordChoice)
    place = choice.place
    probabilities = translator.place_logits(place)[0].softmax(-1).tolist()
    found = likeliest(translator, place, 3)
    by_probability = sorted(range(len(probabilities)), key=lambda token: -probabilities[token])
    assert [token for token, _ in found] == by_probability[:3]
    assert [probability for _, probability in found] == pytest.approx([probabilities[token] for token, _ in found])


@both_measures
def test_each_change_is_that_of_two_runs_with_the_head_switched_off(translator: Translator, measure: Measure) -> None:
    done: list[int] = []
    effects = measure_effects(translator, choices_of(translator, measure), progress=done.append)
    assert effects.changes.shape == (3, 24)
    assert sum(done) == effects.changes.numel()
    for number, case in enumerate(CASES):
        intact = log_odds(translator, case, [], measure)
        assert float(effects.intact[number]) == pytest.approx(intact, abs=1e-3)
        for head in HEADS:
            change = log_odds(translator, case, [SwitchOff(*head)], measure) - intact
            assert float(effects.changes[number, number_of(translator, head)]) == pytest.approx(change, abs=2e-4)


@pytest.mark.parametrize("head", HEADS)
def test_the_mean_is_that_over_all_rows_of_all_sentences(
    translator: Translator, means: Replacement, head: HeadName
) -> None:
    traces = [translator.trace(sentence.text, sentence.target) for sentence in CORPUS]
    rows = torch.cat([trace.head_output(head.site, head.layer, [head.head])[0] for trace in traces])
    torch.testing.assert_close(means[head.site, head.layer][head.head, 0], rows.mean(0), atol=1e-5, rtol=1e-4)


@both_measures
def test_the_estimate_is_the_slope_of_the_log_odds_where_the_head_begins_to_fade(
    translator: Translator, means: Replacement, measure: Measure
) -> None:
    estimate = estimate_effects(translator, choices_of(translator, measure), means)
    expected = [log_odds(translator, case, {}, measure) for case in CASES]
    assert estimate.intact.tolist() == pytest.approx(expected, abs=1e-3)
    step = 0.001  # so small that hardly any ReLU changes sides on the way
    for head in HEADS:

        def faded(share: float, head: HeadName = head) -> Edits:
            def fade(output: torch.Tensor) -> torch.Tensor:
                changed = output.clone()
                own = output[:, head.head]
                changed[:, head.head] = own + share * (means[head.site, head.layer][head.head] - own)
                return changed

            return {f"{site_path(head.site, head.layer)}.hook_head_output": fade}

        for number, case in enumerate(CASES):
            # Symmetric, so that what is left out is of third order.
            ahead, behind = (log_odds(translator, case, faded(share), measure) for share in (step, -step))
            slope = (ahead - behind) / (2 * step)
            found = float(estimate.changes[number, number_of(translator, head)])
            assert found == pytest.approx(slope, rel=0.01, abs=4e-3)


def test_rows_that_are_computed_now_are_put_in_and_those_of_all_calls_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_effects, "first_row", lambda: 1)
    values, here = torch.arange(5.0).reshape(1, 1, 5, 1), torch.zeros(1, 1, 2, 1)
    assert of_rows(values, here).flatten().tolist() == [1, 2]
    assert of_rows(values[:, :, 4:], here).flatten().tolist() == [4]
    kept, output = KeptOutputs(), torch.rand(2, 3, 5, 4)
    for rows in (slice(0, 1), slice(1, 3), slice(3, 5)):
        assert kept("encoder.self", 0, output[:, :, rows]).equal(output[:, :, rows])
    assert kept.joined()["encoder.self", 0].equal(output)


def choice_of(source: int, target: int) -> WordChoice:
    return WordChoice(TokenPlace((5,) * source, (6,) * target, 0), 1, 2)


@pytest.mark.parametrize(
    ("limit", "sizes", "twice", "copies"),
    [
        (1, [1, 1, 1], [1, 1, 1], (1, 1)),
        (18, [1, 2], [1, 1, 1], (3, 1)),
        (20, [2, 1], [1, 1, 1], (3, 1)),
        (39, [3], [1, 2], (6, 1)),
        (40, [3], [2, 1], (6, 2)),
    ],
)
def test_no_more_tokens_are_read_side_by_side_than_the_limit(
    limit: int, sizes: list[int], twice: list[int], copies: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head_effects, "TOKENS_AT_ONCE", limit)
    choices = [choice_of(4, 2), choice_of(6, 4), choice_of(5, 4)]
    found = list(batches(Mock(pads=True), choices))
    assert [len(numbers) for numbers in found] == sizes
    # The longest come first, so that a batch holds texts of like length.
    assert [number for numbers in found for number in reversed(numbers)] == [1, 2, 0]
    assert [len(numbers) for numbers in batches(Mock(pads=True), choices, 2)] == twice
    assert [len(numbers) for numbers in batches(Mock(pads=False), choices)] == [1, 1, 1]
    assert (copies_at_once(choices[:1]), copies_at_once(choices[1:])) == copies
    assert most_heads(Mock(abilities=Mock(heads={"encoder.self": (2, 3), "decoder.self": (4, 1)}))) == 4


def test_the_estimate_leaves_no_gradient_on_the_model(translator: Translator) -> None:
    estimate_effects(translator, choices_of(translator, "texts"))
    assert all(parameter.grad is None for parameter in translator.model.parameters())


def test_a_choice_flips_where_the_other_translation_is_preferred_without_the_head(translator: Translator) -> None:
    effects = measure_effects(translator, choices_of(translator, "texts"))
    for number, intact in enumerate(effects.intact.tolist()):
        without = intact + effects.changes[number]
        assert effects.flips[number].tolist() == ((without <= 0) if intact > 0 else (without > 0)).tolist()
    removal = RemovalEffect(intact=torch.tensor([1.0, 1.0, -1.0, 0.0]), removed=torch.tensor([0.5, -0.5, 0.5, -0.5]))
    # Who prefers neither does not prefer it.
    assert removal.flips.tolist() == [False, True, True, False]


@both_measures
def test_a_set_of_heads_is_switched_off_at_once(translator: Translator, measure: Measure) -> None:
    choices = choices_of(translator, measure)
    effect = remove_heads(translator, choices, HEADS)
    for number, case in enumerate(CASES):
        removed = log_odds(translator, case, [SwitchOff(*head) for head in HEADS], measure)
        assert float(effect.removed[number]) == pytest.approx(removed, abs=1e-3)
        assert float(effect.changes[number]) == pytest.approx(
            removed - log_odds(translator, case, {}, measure), abs=1e-3
        )
    one = remove_heads(translator, choices, HEADS[:1])
    swept = measure_effects(translator, choices).changes[:, number_of(translator, HEADS[0])]
    torch.testing.assert_close(one.changes, swept, atol=2e-4, rtol=1e-3)


def test_scores_are_those_of_the_translations_without_the_heads(translator: Translator) -> None:
    heads = [HeadName(site, layer, head) for site in SITES for layer in range(2) for head in (0, 2)]
    texts = [SENTENCES[0], SENTENCES[4]]
    without = [translator.decode(text, edits=[SwitchOff(*head) for head in heads]) for text in texts]
    for session in without:
        session.run()
    intact = translate_all(translator.model, translator.tokenizer, texts)
    assert intact != [session.translation for session in without]
    pairs = [Pair(text, session.translation) for text, session in zip(texts, without, strict=True)]
    # BLEU of translations that are one endless word is 0; chrF is not.
    with heads_off(translator, heads):
        assert [translator.translate(text) for text in texts] == [session.translation for session in without]
        scores = evaluate(translator.model, translator.tokenizer, pairs)
    assert scores.chrf == pytest.approx(100)
    assert scores.beam == 1
    scores = evaluate_writer(translator, pairs)
    assert scores.chrf < 100
    assert scores.beam == 1


def test_unknown_heads_blank_texts_and_cases_without_a_choice_are_refused(translator: Translator) -> None:
    unknown = [HeadName("encoder.self", 0, 4)]
    with pytest.raises(EditError, match="There is no head 4"):
        remove_heads(translator, choices_of(translator, "texts"), unknown)
    with pytest.raises(EditError, match="There is no head 4"), heads_off(translator, unknown):
        pass
    for made in (translator.text_choice, translator.word_choice):
        with pytest.raises(InputTextError, match="two different words"):
            made("Tom told me.", "Tom sagte mir.", "Tom sagte  mir.")
        with pytest.raises(InputTextError, match="is empty"):
            made("Tom told me.", "Tom sagte mir.", " ")


LONG = "The animal didn't cross the street because it was too tired."
SAME_LENGTH = "The animal didn't cross the street because it was too late."
SHORTER = "The animal didn't cross the street because it was late."
RIGHT, WRONG = "Das Tier war müde, weil es lief.", "Das Tier war müde, weil sie lief."
PATCHED_HEADS = [
    HeadName("encoder.self", 0, 3),
    HeadName("encoder.self", 1, 1),
    HeadName("decoder.self", 1, 0),
    HeadName("decoder.cross", 0, 2),
]


def pair_of(translator: Translator, a: str, b: str, measure: Measure) -> ChoicePair[Choice]:
    of_a, of_b = choices_of(translator, measure, [Case(text, RIGHT, WRONG) for text in (a, b)])
    return ChoicePair(of_a, of_b)


def patched(translator: Translator, source: str, other: str, head: HeadName, measure: Measure) -> float:
    """A's log-odds with one head's output of B, row by row."""
    name = f"{site_path(head.site, head.layer)}.hook_head_output"
    matches = counterparts(translator.source_ids(source), translator.source_ids(other))
    steps = []
    for target in (RIGHT, WRONG):
        with listen(record={"hook_head_output"}):
            taken = translator.trace(other, target, extras={"hook_head_output"}).recorded[name]

        def put(output: torch.Tensor, taken: torch.Tensor = taken) -> torch.Tensor:
            changed = output.clone()
            for row in range(output.size(2)):
                origin = matches[row] if head.site == "encoder.self" else row
                if origin != NO_COUNTERPART:
                    changed[0, head.head, row] = taken[head.head, origin]
            return changed

        steps.append(translator.trace(source, target, edits={name: put}).steps)
    if measure == "texts":
        right, wrong = (sum(step.log_prob for step in of_text) for of_text in steps)
        return right - wrong
    a, b = next((a, b) for a, b in zip(*steps, strict=False) if a.token_id != b.token_id)
    return a.log_prob - b.log_prob


@pytest.mark.parametrize("measure", MEASURES)
def test_every_entry_is_a_run_with_one_head_of_the_other_sentence(translator: Translator, measure: Measure) -> None:
    others, done = (SAME_LENGTH, SHORTER, SENTENCES[4]), list[int]()
    found = patch_heads(translator, [pair_of(translator, LONG, other, measure) for other in others], done.append)
    assert found.patched.shape == (3, 24)
    assert sum(done) == found.patched.numel()
    for number, other in enumerate(others):
        of_a, of_b = (log_odds(translator, Case(text, RIGHT, WRONG), {}, measure) for text in (LONG, other))
        assert float(found.a[number]) == pytest.approx(of_a, abs=1e-3)
        assert float(found.b[number]) == pytest.approx(of_b, abs=1e-3)
        for head in PATCHED_HEADS:
            expected = patched(translator, LONG, other, head, measure)
            assert float(found.patched[number, number_of(translator, head)]) == pytest.approx(expected, abs=2e-4)


def test_a_sentence_patched_from_itself_stays_as_it_is(translator: Translator) -> None:
    found = patch_heads(translator, [pair_of(translator, LONG, LONG, "words")])
    torch.testing.assert_close(found.changes, torch.zeros_like(found.changes), atol=1e-5, rtol=0)
    assert found.overall.isnan().all()
