"""Log-odds of two translations: as two traces give them, alone and in a batch."""

import pytest
import torch

from model import Translator
from model.analysis.interventions.contrast import ContrastCase, Measure, contrast_batches, contrast_ids
from model.errors import DataError, InputTextError
from model.trace.steps import DecodingStep
from tests.conftest import SENTENCES

CASES = [
    ContrastCase(SENTENCES[0], "Das Tier war müde, weil es lief.", "Das Tier war müde, weil sie lief."),
    ContrastCase("Tom told me.", "Tom sagte mir.", "Tom sagte mir, dass er morgen kommen würde."),
    ContrastCase(SENTENCES[4], "Sie lasen es.", "Er las es."),
]


def log_odds(translator: Translator, cases: list[ContrastCase], measure: Measure = "sentence") -> list[float]:
    ids = [contrast_ids(translator, case, measure) for case in cases]
    found = torch.empty(len(ids))
    for numbers, batch in contrast_batches(translator, ids):
        found[numbers] = batch.log_odds(translator.model, batch.encode(translator.model))[0].detach()
    return found.tolist()


def steps_of(translator: Translator, case: ContrastCase) -> tuple[tuple[DecodingStep, ...], tuple[DecodingStep, ...]]:
    right, wrong = (translator.trace(case.source, target).steps for target in case[1:])
    return right, wrong


def test_log_odds_are_the_difference_of_what_two_traces_sum_up_to(translator: Translator) -> None:
    expected = []
    for case in CASES:
        right, wrong = steps_of(translator, case)
        expected.append(sum(step.log_prob for step in right) - sum(step.log_prob for step in wrong))
    assert log_odds(translator, CASES) == pytest.approx(expected, abs=1e-3)


def test_by_token_only_the_first_difference_counts(translator: Translator) -> None:
    expected = []
    for case in CASES:
        pairs = zip(*steps_of(translator, case), strict=False)
        right, wrong = next((a, b) for a, b in pairs if a.token_id != b.token_id)
        expected.append(right.log_prob - wrong.log_prob)
    assert log_odds(translator, CASES, "token") == pytest.approx(expected, abs=1e-4)


def test_a_batch_gives_what_each_case_gives_alone(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    together = log_odds(translator, CASES)
    monkeypatch.setattr("model.analysis.interventions.contrast.TOKENS_AT_ONCE", 1)
    assert log_odds(translator, CASES) == pytest.approx(together, abs=1e-4)


def test_right_and_wrong_change_sides_with_the_sign(translator: Translator) -> None:
    turned = [ContrastCase(source, wrong, right) for source, right, wrong in CASES]
    assert log_odds(translator, turned) == pytest.approx([-one for one in log_odds(translator, CASES)], abs=1e-5)


def test_two_equal_translations_and_blank_texts_are_refused(translator: Translator) -> None:
    with pytest.raises(DataError, match="that differ"):
        contrast_ids(translator, ContrastCase("Tom told me.", "Tom sagte mir.", "Tom sagte  mir."))
    with pytest.raises(InputTextError):
        contrast_ids(translator, ContrastCase("Tom told me.", "Tom sagte mir.", " "))
