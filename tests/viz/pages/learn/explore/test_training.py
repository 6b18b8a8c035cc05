"""Smoothing, teacher forcing and the schedule: controls, the reference that is proposed, where two runs part."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Translator
from model.opening import as_chooser
from model.reader import Writer
from tests.model.adapters import zoo
from tests.often import often
from tests.viz.page_run import app_of, healthy, said
from tests.viz.pages.learn.explore.opening import explored, exploring
from tests.viz.sent import sent_to
from viz.access import traces
from viz.pages.learn.explore.data import training as data
from viz.selection.catalogue import ROOT_VARIABLE

TEXT = "The dog sleeps."


@pytest.fixture
def app(experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(experiment_checkpoints))
    return app_of()


def test_smoothing_moves_the_target_and_what_is_said_of_the_gradient(app: AppTest) -> None:
    exploring(app, "smoothing", text=TEXT)
    (chart,) = explored(app)
    assert [trace["name"] for trace in chart["data"]] == ["one-hot target", "smoothed target", "the model"]
    gradient = "raises" if "underconfident" in said(app) else "lowers"
    assert f"the gradient {gradient} the probability of the correct token" in said(app)
    healthy(app.slider(key="smoothing").set_value(0).run())
    assert "always raises the probability of the correct token" in said(app)
    assert app.query_params["epsilon"] == "0"


def test_the_schedule_has_the_papers_models_beside_it_and_says_where_no_log_lies(app: AppTest) -> None:
    exploring(app, "schedule", schedule_width=256, schedule_warmup=1_000)
    assert [trace["name"] for trace in explored(app)[0]["data"]][-1] == "chosen"
    assert "1.98·10⁻³" in said(app), "1 ÷ √(256 · 1,000)"
    assert "has no training log" in said(app)


def test_two_films_stand_where_they_part_and_follow_another_reference(app: AppTest) -> None:
    exploring(app, "forcing", text=TEXT)
    ((header, _),) = sent_to(app, "two_films")
    at = header["command"]["step"]
    assert header["forced"][at]["asked"] != header["free"][at]["written"]
    healthy(app.text_input(key="forced_reference").set_value("Das Tier").run())
    ((header, _),) = sent_to(app, "two_films")
    assert [step["asked"] for step in header["forced"]][-1] == "</s>"
    assert app.query_params["reference"] == "Das Tier"
    # A reference that is too long is refused by a sentence.
    app.text_input(key="forced_reference").set_value("Tier " * 300).run()
    assert not app.exception
    assert len(app.error) == 1


@pytest.fixture(params=often(["ours", "marian", "mbart"], ("ours",)), scope="module")
def any_writer(request: pytest.FixtureRequest) -> Writer:
    """A translator of ours, one of the library that never writes its padding, and one that begins with a language."""
    if request.param == "ours":
        return request.getfixturevalue("translator")
    settings = {"bad_words_ids": [[0]], "eos_token_id": 2} if request.param == "marian" else {}
    return zoo.writer(request.param, **settings)


def test_the_model_s_own_words_as_reference_never_part_from_it(any_writer: Writer) -> None:
    translator = any_writer
    trace = traces.written(translator, TEXT)
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


def test_all_tokens_of_a_step_are_accounted_for(any_writer: Writer) -> None:
    translator = as_chooser(any_writer)
    trace = traces.written(any_writer, TEXT)
    found = data.smoothed_step(translator, trace, 0, 10)
    assert found.tokens[0] == trace.steps[0].token
    assert float(found.probabilities.sum()) + found.others * found.rest == pytest.approx(1, abs=1e-5)
    never = int(translator.place_logits(translator.place(TEXT))[0].isneginf().sum())
    assert found.others + len(found.tokens) == translator.vocab_size - never
    assert found.loss.target + (found.others + len(found.tokens) - 1) * found.asked == pytest.approx(1)
    assert len(found.tokens) == len(set(found.tokens)) == data.TOP
    # A later step reads what was written before it; a token that is not among the likeliest stands first.
    for step in (1, len(trace.steps) - 1):
        found = data.smoothed_step(translator, trace, step, 10)
        assert found.probabilities[0] == pytest.approx(np.exp(trace.steps[step].log_prob), rel=1e-3)


def test_without_a_step_the_choice_that_was_nearest_to_another_is_taken_otherwise(translator: Translator) -> None:
    trace = traces.trace(translator, TEXT)
    rivals = {at: traces.rival(trace, at) for at in range(len(trace.steps) - 1)}
    gaps = {at: trace.steps[at].log_prob - rival.log_prob for at, rival in rivals.items() if rival is not None}
    nearest = min(gaps, key=lambda at: gaps[at])
    other = data.other_translation(translator, trace, None)
    own = tuple(step.token_id for step in trace.steps)
    assert other.token_ids[:nearest] == own[:nearest]
    rival = rivals[nearest]
    assert rival is not None
    assert other.token_ids[nearest] == rival.token_id != own[nearest]


def test_a_reference_that_ends_earlier_parts_where_it_ends(translator: Translator) -> None:
    trace = traces.trace(translator, TEXT)
    words = tuple(step.token_id for step in trace.steps)
    shorter = data.two_runs(translator, trace, data.OtherTranslation("", words[:4]))
    assert (shorter.differ, shorter.parting, len(shorter.forced)) == (
        True,
        len(shorter.forced) - 1,
        len(shorter.forced),
    )
    for forced, step in zip(shorter.forced, trace.steps, strict=False):
        best = step.candidates[0]
        if forced.read != "</s>":
            assert forced.favourite == best.token
            assert forced.favourite_probability == pytest.approx(np.exp(best.log_prob), rel=1e-3)


def test_the_step_proposed_is_the_least_probable_that_writes_letters(translator: Translator) -> None:
    trace = traces.trace(translator, TEXT)
    end = trace.steps[-1]
    assert end.token in trace.special_tokens
    asked = [("▁es", -0.1), ("▁zu", -0.2), (".", -0.5)]
    written = [replace(end, token=token, log_prob=log_prob) for token, log_prob in asked]
    assert data.least_probable_step(replace(trace, steps=(*written, replace(end, log_prob=-3.0)))) == 1
    assert data.least_probable_step(replace(trace, steps=(end,))) == 0
