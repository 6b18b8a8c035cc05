"""What is explained: as a trace says it, and with tokens hidden."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

from model import Trace, Translator
from model.analysis.attribution.choice import TokenChoice, choice_at, visible
from model.analysis.attribution.runs import TranslatorRun
from model.errors import DataError
from tests.model.analysis.attribution.conftest import STEP


@torch.no_grad()
def test_against_another_token_it_is_the_difference(either: Translator, trace: Trace) -> None:
    first, second = trace.steps[STEP].candidates[:2]
    choice = replace(choice_at(trace, STEP), token=first.token_id, against=second.token_id)
    expected = first.log_prob - second.log_prob
    assert intact(either, trace, choice) == pytest.approx(expected, abs=1e-4)


@torch.no_grad()
def test_tokens_hidden_at_the_end_are_as_if_the_sentence_had_ended_before(either: Translator, trace: Trace) -> None:
    whole = choice_at(trace, STEP)
    length = len(whole.source)
    for gone in (1, 3, 5):
        hidden = whole_but(either, trace, whole, range(length - gone, length))
        shorter = replace(whole, place=replace(whole.place, source=whole.source[: length - gone]))
        assert hidden == pytest.approx(intact(either, trace, shorter), abs=1e-4)


def test_steps_that_are_not_and_a_token_against_itself_are_refused(trace: Trace) -> None:
    with pytest.raises(DataError, match=rf"Steps run from 0 to {len(trace.steps) - 1}, got 99"):
        choice_at(trace, 99)
    with pytest.raises(DataError, match="with itself"):
        choice_at(trace, STEP, against=trace.steps[STEP].token_id)


def intact(translator: Translator, trace: Trace, choice: TokenChoice) -> float:
    return whole_but(translator, trace, choice, ())


def whole_but(translator: Translator, trace: Trace, choice: TokenChoice, hidden: Sequence[int]) -> float:
    logits = TranslatorRun(translator, choice, trace).seen_logits(visible(len(choice.source), [hidden]))
    return float(choice.of_logits(logits))
