"""One head's output from another sentence: against runs put together by hand."""

import pytest
import torch

from model import Translator
from model.analysis.interventions.patching import NO_COUNTERPART, ChoicePair, counterparts, patch_heads
from model.analysis.metrics.head_names import HeadName
from model.nn.encoder_decoder import site_path
from model.nn.hooks import listen
from model.word_choice import Choice
from tests.conftest import SENTENCES
from tests.model.analysis.interventions.cases import MEASURES, Case, Measure, choices_of, log_odds, number_of

LONG = "The animal didn't cross the street because it was too tired."
SAME_LENGTH = "The animal didn't cross the street because it was too late."
SHORTER = "The animal didn't cross the street because it was late."
RIGHT, WRONG = "Das Tier war müde, weil es lief.", "Das Tier war müde, weil sie lief."
HEADS = [
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
        for head in HEADS:
            expected = patched(translator, LONG, other, head, measure)
            assert float(found.patched[number, number_of(translator, head)]) == pytest.approx(expected, abs=2e-4)


def test_a_sentence_patched_from_itself_stays_as_it_is(translator: Translator) -> None:
    found = patch_heads(translator, [pair_of(translator, LONG, LONG, "words")])
    torch.testing.assert_close(found.changes, torch.zeros_like(found.changes), atol=1e-5, rtol=0)
    assert found.overall.isnan().all()


def test_overall_is_zero_as_a_and_one_as_b(translator: Translator) -> None:
    found = patch_heads(translator, [pair_of(translator, LONG, SENTENCES[i], "words") for i in (4, 6)])
    gap = found.b - found.a
    torch.testing.assert_close(found.overall * gap.sum(), found.changes.sum(0))


def test_counterparts_are_positions_or_what_both_have_in_common() -> None:
    assert counterparts([5, 6, 7], [1, 2, 3]) == [0, 1, 2]
    assert counterparts([1, 2, 3, 4, 9], [1, 2, 4, 9]) == [0, 1, NO_COUNTERPART, 2, 3]
    assert counterparts([7, 9], [1, 8, 9]) == [NO_COUNTERPART, 2]
