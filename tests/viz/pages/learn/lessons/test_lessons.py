"""Every step of every lesson with the model that ships: it bears out what is said, in every language."""

import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from tests.paths import ROOT
from viz.access import models
from viz.pages.learn.lessons import data
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.lesson import (
    Question,
    Step,
    filled,
    filled_plainly,
    holds,
    is_right,
    lessons,
    right_answer,
)
from viz.pages.learn.lessons.pictures import View
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import ModelChoice
from viz.selection.selection import FIELDS
from viz.text import messages
from viz.text.messages import shown

Views = Callable[[str, int], View]

STEPS = [(name, number) for name, lesson in lessons().items() for number in range(1, len(lesson.steps) + 1)]
LANGUAGES = list(messages.languages())


def step_of(name: str, number: int) -> Step:
    return lessons()[name].steps[number - 1]


QUESTIONS: dict[tuple[str, int], Question] = {
    place: question for place in STEPS if (question := step_of(*place).question) is not None
}


@pytest.fixture(scope="module")
def view() -> Iterator[Views]:
    """The view of a step with the model that ships, computed once for all tests."""
    choice = ModelChoice("en-de")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
        shipped = Shipped(choice, models.translator(choice))
        yield cache(lambda name, number: data.view(shipped, lessons()[name], number))


@pytest.mark.parametrize(("name", "number"), STEPS)
def test_the_model_that_ships_bears_out_the_step(view: Views, name: str, number: int) -> None:
    step, computed = step_of(name, number), view(name, number)
    assert [(claim, dict(computed.found)) for claim in step.claims if not holds(claim, computed.found)] == []
    assert set(computed.full.choices) <= set(FIELDS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_step_can_be_told_in_every_language(view: Views, language: str) -> None:
    with messages.speaking(language):
        texts = {place: _told(*place, view(*place)) for place in STEPS}
    assert [(place, text) for place in STEPS for text in texts[place] if not text or "{" in text] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_exactly_one_option_is_right_and_the_verdict_reads_as_it_does(view: Views, language: str) -> None:
    for place, question in QUESTIONS.items():
        found = view(*place).found
        with messages.speaking(language):
            options = [filled_plainly(option, found) for option in question.options]
            right = [is_right(option, question, found) for option in question.options]
            verdict = right_answer(question, found)
        assert right.count(True) == 1, place
        assert verdict == options[right.index(True)], place
        assert len(set(options)) == len(options) > 1, place


def test_every_wrong_option_says_what_would_have_to_be_true_and_no_right_one_does(view: Views) -> None:
    for place, question in QUESTIONS.items():
        is_wrong = [not is_right(option, question, view(*place).found) for option in question.options]
        assert [bool(text) for text in question.wrong] == is_wrong, place


def test_a_question_has_three_options_and_its_wrong_ones_name_no_number_that_is_not_computed() -> None:
    assert [place for place, question in QUESTIONS.items() if len(question.options) < 3] == []
    texts = [text for question in QUESTIONS.values() for text in question.wrong]
    assert [text for text in texts if re.search(r"\d", re.sub(r"\{\w+[^}]*\}", "", text))] == []


def test_an_answer_is_not_what_always_stands_first(view: Views) -> None:
    """Who always chose the first option would else be right."""
    first = [is_right(one.options[0], one, view(*place).found) for place, one in QUESTIONS.items()]
    assert 0.2 < sum(first) / len(first) < 0.8


def _told(name: str, number: int, computed: View) -> list[str]:
    """What a person reads beside the picture."""
    lesson, step = lessons()[name], step_of(name, number)
    texts = [messages._(lesson.title), messages._(lesson.section), messages._(step.title), shown(computed.caption)]
    texts.append(filled(step.text, computed.found))
    if step.question is not None:
        texts += [filled(text, computed.found) for text in (step.question.ask, step.question.because)]
        texts += [filled(text, computed.found) for text in step.question.wrong if text]
    return texts
