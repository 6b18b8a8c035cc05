"""Every step of every lesson with the model that ships: it bears out what is said, and one option is the answer."""

import pytest

from tests.paths import ROOT
from viz.access import models
from viz.pages.learn.lessons import data, wording
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.lesson import holds, lessons
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.model_choice import ModelChoice
from viz.selection.selection import FIELDS

STEPS = [(name, number) for name, lesson in lessons().items() for number in range(1, len(lesson.steps) + 1)]


@pytest.fixture(autouse=True)
def checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))


@pytest.mark.parametrize(("name", "number"), STEPS)
def test_the_model_that_ships_bears_out_the_step(name: str, number: int) -> None:
    choice = ModelChoice("en-de")
    lesson = lessons()[name]
    step, view = lesson.steps[number - 1], data.view(Shipped(choice, models.translator(choice)), lesson, number)
    assert [(claim, dict(view.found)) for claim in step.claims if not holds(claim, view.found)] == []
    assert "{" not in wording.filled(step.text, view.found)
    assert view.caption
    assert set(view.full.choices) <= set(FIELDS)
    if step.question is not None:
        options = [wording.filled_plainly(option, view.found) for option in step.question.options]
        assert options.count(str(view.found[step.question.answer])) == 1
        assert len(set(options)) == len(options) > 1
        for text in (step.question.ask, step.question.because):
            assert "{" not in wording.filled(text, view.found)


def test_an_answer_is_not_what_always_stands_first() -> None:
    """Who always chose the first option would else be right."""
    choice = ModelChoice("en-de")
    shipped = Shipped(choice, models.translator(choice))
    first = []
    for name, number in STEPS:
        lesson = lessons()[name]
        question = lesson.steps[number - 1].question
        if question is not None:
            found = data.view(shipped, lesson, number).found
            first.append(wording.filled_plainly(question.options[0], found) == str(found[question.answer]))
    assert 0.2 < sum(first) / len(first) < 0.8
