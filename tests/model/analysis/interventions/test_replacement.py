"""Sets of heads that are replaced by nothing or by their mean."""

import pytest
import torch

from model import Translator
from model.analysis.interventions.head_effects import (
    measure_effects,
    remove_heads,
)
from model.analysis.interventions.replacement import removal_edits, zero_outputs
from model.analysis.metrics.head_names import HeadName, all_heads
from model.nn.edits import SwitchOff
from tests.conftest import SENTENCES
from tests.model.analysis.interventions.cases import CASES, CORPUS, HEADS, indices, log_odds


@pytest.mark.parametrize("head", HEADS)
def test_the_mean_is_that_over_all_rows_of_all_sentences(
    translator: Translator, means: torch.Tensor, head: HeadName
) -> None:
    traces = [translator.trace(sentence.text, sentence.target) for sentence in CORPUS]
    rows = torch.cat([trace.head_output(head.site, head.layer, [head.head])[0] for trace in traces])
    torch.testing.assert_close(means[indices(head)], rows.mean(0), atol=1e-5, rtol=1e-4)


def test_a_set_of_heads_is_switched_off_at_once(translator: Translator) -> None:
    zero = zero_outputs(translator.config)
    effect = remove_heads(translator, CASES, HEADS, zero)
    for number, case in enumerate(CASES):
        removed = log_odds(translator, case, [SwitchOff(*head) for head in HEADS])
        assert float(effect.removed[number]) == pytest.approx(removed, abs=1e-3)
        assert float(effect.changes[number]) == pytest.approx(removed - log_odds(translator, case, {}), abs=1e-3)
    one = remove_heads(translator, CASES, HEADS[:1], zero)
    swept = measure_effects(translator, CASES, zero).changes[(slice(None), *indices(HEADS[0]))]
    torch.testing.assert_close(one.changes, swept, atol=2e-4, rtol=1e-3)


def test_without_any_head_the_source_does_not_matter(translator: Translator) -> None:
    """All three sites give nothing, so the decoder sees only its own row."""
    everything = frozenset(all_heads(translator.abilities.heads))
    zero = zero_outputs(translator.config)
    other = [case._replace(source="She gave her sister the book.") for case in CASES]
    here, there = (remove_heads(translator, cases, everything, zero) for cases in (CASES, other))
    torch.testing.assert_close(here.removed, there.removed, atol=1e-4, rtol=0)
    assert float((here.intact - there.intact).abs().min()) > 1e-3


def test_edits_of_a_removal_are_right_step_by_step_too(translator: Translator, means: torch.Tensor) -> None:
    edits = removal_edits(translator.config, HEADS, means)
    session = translator.decode(SENTENCES[0], edits=edits)
    session.run()
    emitted = [step.token_id for step in session.steps]
    trace = translator.trace_tokens(SENTENCES[0], emitted, edits=edits)
    assert [step.log_prob for step in session.steps] == pytest.approx([s.log_prob for s in trace.steps], abs=1e-4)
