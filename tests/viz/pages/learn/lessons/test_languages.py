"""Lessons in every language: no placeholder is left, and exactly one option is right, whatever it is called there."""

import pytest

from tests.paths import ROOT
from viz.access import models
from viz.core import messages
from viz.core.messages import shown
from viz.pages.learn.lessons import data, wording
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.lesson import Lesson, lessons
from viz.pages.learn.lessons.pictures import View
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.model_choice import ModelChoice

STEPS = [(name, number) for name, lesson in lessons().items() for number in range(1, len(lesson.steps) + 1)]
LANGUAGES = list(messages.languages())


@pytest.fixture(scope="module")
def shipped() -> Shipped:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
        choice = ModelChoice("en-de")
        return Shipped(choice, models.translator(choice))


@pytest.fixture(autouse=True)
def checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))


@pytest.mark.parametrize(("name", "number"), STEPS)
def test_every_step_can_be_told_in_every_language(shipped: Shipped, name: str, number: int) -> None:
    lesson = lessons()[name]
    view = data.view(shipped, lesson, number)
    for language in LANGUAGES:
        with messages.speaking(language):
            texts = _told(lesson, number, view)
        assert [text for text in texts if not text or "{" in text] == [], language


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, number in STEPS if lessons()[name].steps[number - 1].question]
)
def test_exactly_one_option_is_right_and_the_verdict_reads_as_it_does(shipped: Shipped, name: str, number: int) -> None:
    lesson = lessons()[name]
    question, found = lesson.steps[number - 1].question, data.view(shipped, lesson, number).found
    assert question is not None
    for language in LANGUAGES:
        with messages.speaking(language):
            options = [wording.filled_plainly(option, found) for option in question.options]
            right = [wording.is_right(option, question, found) for option in question.options]
            verdict = wording.answer(question, found)
        assert right.count(True) == 1, language
        assert verdict == options[right.index(True)], language
        assert len(set(options)) == len(options), language


def _told(lesson: Lesson, number: int, view: View) -> list[str]:
    """What a person reads beside the picture."""
    step = lesson.steps[number - 1]
    texts = [messages._(lesson.title), messages._(lesson.section), messages._(step.title), shown(view.caption)]
    texts.append(wording.filled(step.text, view.found))
    if step.question is not None:
        texts += [wording.filled(step.question.ask, view.found), wording.filled(step.question.because, view.found)]
    return texts
