"""One head's output from another sentence: against runs put together by hand."""

import pytest
import torch

from model import Translator
from model.analysis.interventions.patching import NO_COUNTERPART, PatchPair, counterparts, patch_heads
from model.nn.edit_hooks import Edits
from model.nn.encoder_decoder import SITES, site_path
from model.nn.hooks import listen
from tests.conftest import SENTENCES

LONG = "The animal didn't cross the street because it was too tired."
SAME_LENGTH = "The animal didn't cross the street because it was too late."
SHORTER = "The animal didn't cross the street because it was late."
RIGHT, WRONG = "Das Tier war müde, weil es lief.", "Das Tier war müde, weil sie lief."
HEADS = [("encoder.self", 0, 3), ("encoder.self", 1, 1), ("decoder.self", 1, 0), ("decoder.cross", 0, 2)]


def log_odds(translator: Translator, source: str, edits: Edits) -> float:
    right, wrong = (
        sum(step.log_prob for step in translator.trace(source, target, edits=edits).steps) for target in (RIGHT, WRONG)
    )
    return right - wrong


def patched(translator: Translator, source: str, other: str, head: tuple[str, int, int]) -> float:
    """A's log-odds with one head's output of B, row by row."""
    site, layer, number = head
    name = f"{site_path(site, layer)}.hook_head_output"
    matches = counterparts(translator.source_ids(source), translator.source_ids(other))
    sums = []
    for target in (RIGHT, WRONG):
        with listen(record={"hook_head_output"}):
            taken = translator.trace(other, target, extras={"hook_head_output"}).recorded[name]

        def put(output: torch.Tensor, taken: torch.Tensor = taken) -> torch.Tensor:
            changed = output.clone()
            for row in range(output.size(2)):
                origin = matches[row] if site == "encoder.self" else row
                if origin != NO_COUNTERPART:
                    changed[0, number, row] = taken[number, origin]
            return changed

        sums.append(sum(step.log_prob for step in translator.trace(source, target, edits={name: put}).steps))
    return sums[0] - sums[1]


def test_every_entry_is_a_run_with_one_head_of_the_other_sentence(translator: Translator) -> None:
    pairs = [PatchPair(LONG, other, RIGHT, WRONG) for other in (SAME_LENGTH, SHORTER, SENTENCES[4])]
    done: list[int] = []
    found = patch_heads(translator, pairs, "sentence", done.append)
    assert found.patched.shape == (3, 3, 2, 4)
    assert sum(done) == found.patched.numel()
    for number, pair in enumerate(pairs):
        assert float(found.a[number]) == pytest.approx(log_odds(translator, pair.source_a, {}), abs=1e-3)
        assert float(found.b[number]) == pytest.approx(log_odds(translator, pair.source_b, {}), abs=1e-3)
        for head in HEADS:
            expected = patched(translator, pair.source_a, pair.source_b, head)
            entry = found.patched[number, SITES.index(head[0]), head[1], head[2]]
            assert float(entry) == pytest.approx(expected, abs=2e-4)


def test_a_sentence_patched_from_itself_stays_as_it_is(translator: Translator) -> None:
    found = patch_heads(translator, [PatchPair(LONG, LONG, RIGHT, WRONG)])
    torch.testing.assert_close(found.changes, torch.zeros_like(found.changes), atol=1e-5, rtol=0)
    assert found.overall.isnan().all()


def test_overall_is_zero_as_a_and_one_as_b(translator: Translator) -> None:
    pairs = [PatchPair(LONG, SENTENCES[4], RIGHT, WRONG), PatchPair(LONG, SENTENCES[6], RIGHT, WRONG)]
    found = patch_heads(translator, pairs)
    gap = (found.b - found.a)[:, None, None, None]
    torch.testing.assert_close(found.overall * gap.sum(), found.changes.sum(0))


def test_counterparts_are_positions_or_what_both_have_in_common() -> None:
    assert counterparts([5, 6, 7], [1, 2, 3]) == [0, 1, 2]
    assert counterparts([1, 2, 3, 4, 9], [1, 2, 4, 9]) == [0, 1, NO_COUNTERPART, 2, 3]
    assert counterparts([7, 9], [1, 8, 9]) == [NO_COUNTERPART, 2]


def test_each_token_of_a_has_its_counterpart_or_none(translator: Translator) -> None:
    a, b = (translator.source_ids(text) for text in (LONG, SHORTER))
    matches = counterparts(a, b)
    assert len(matches) == len(a)
    assert all(a[row] == b[match] for row, match in enumerate(matches) if match != NO_COUNTERPART)
    assert NO_COUNTERPART in matches
