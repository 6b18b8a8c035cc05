"""Training, seen: the reference that is proposed, where two runs part, and the paper's schedule at its corners."""

import numpy as np
import pytest

from model import Translator
from viz.access import traces
from viz.pages.learn.training import data

TEXT = "The dog sleeps."


def test_the_schedule_is_highest_where_the_warm_up_ends() -> None:
    steps, rates = data.paper_schedule(512, 4_000, 20_000)
    assert steps[int(rates.argmax())] == pytest.approx(4_000, rel=0.02)
    assert rates.max() == pytest.approx((512 * 4_000) ** -0.5, rel=0.02)
    rising = steps <= 3_900
    assert np.allclose(rates[rising] / steps[rising], 512**-0.5 * 4_000**-1.5)


def test_the_model_s_own_words_as_reference_never_part_from_it(translator: Translator) -> None:
    trace = traces.trace(translator, TEXT)
    own = data.OtherTranslation(trace.translation, tuple(step.token_id for step in trace.steps))
    runs = data.two_runs(translator, trace, own)
    assert not runs.differ
    assert [step.probability for step in runs.forced] == pytest.approx(
        [step.probability for step in runs.free], abs=1e-4
    )
    assert runs.loss == pytest.approx(-np.mean([np.log(step.probability) for step in runs.forced]))


def test_runs_part_at_the_step_whose_second_choice_was_taken(translator: Translator) -> None:
    trace = traces.trace(translator, TEXT)
    for step in (0, 2):
        other = data.other_translation(translator, trace, step)
        runs = data.two_runs(translator, trace, other)
        assert runs.differ
        assert runs.parting == step
        written = [each.written for each in runs.free[: runs.parting]]
        assert [each.asked for each in runs.forced[: runs.parting]] == written
        assert runs.forced[runs.parting].asked != runs.free[runs.parting].written


def test_forced_reads_the_reference_shifted_right(translator: Translator) -> None:
    trace = traces.trace(translator, TEXT)
    runs = data.two_runs(translator, trace, "Das Tier")
    assert runs.forced[0].read == "<s>"
    assert [step.read for step in runs.forced[1:]] == [step.asked for step in runs.forced[:-1]]
    assert runs.forced[-1].asked == "</s>"


def test_all_tokens_of_a_step_are_accounted_for(translator: Translator) -> None:
    trace = traces.trace(translator, TEXT)
    found = data.smoothed_step(translator, trace, 0, 10)
    assert found.tokens[0] == trace.steps[0].token
    assert float(found.probabilities.sum()) + found.others * found.rest == pytest.approx(1, abs=1e-5)
    assert found.others + len(found.tokens) == len(translator.all_tokens())
    assert found.loss.target + (found.others + len(found.tokens) - 1) * found.asked == pytest.approx(1)
