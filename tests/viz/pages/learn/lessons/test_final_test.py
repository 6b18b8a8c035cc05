"""The final test: its pool with the model that ships, what is drawn of it, and its result on the page."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest
from streamlit.testing.v1 import AppTest

from tests.paths import ROOT
from tests.viz.page_run import healthy, opened
from viz.pages.learn.lessons import data, final_test, result
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.lesson import (
    Lesson,
    Question,
    Step,
    filled,
    filled_plainly,
    holds,
    is_right,
    lessons,
    right_answer,
    unnamed,
)
from viz.pages.learn.lessons.pictures import NO_PICTURE, View
from viz.selection.catalogue import ROOT_VARIABLE
from viz.server.class_answers import classes
from viz.text import messages

LANGUAGES = list(messages.languages())
POOL = [(name, at) for name, steps in final_test.pool().items() for at in range(len(steps))]
Views = Callable[[str, int], View]


def step_of(name: str, at: int) -> Step:
    return final_test.pool()[name][at]


def question_of(name: str, at: int) -> Question:
    question = step_of(name, at).question
    assert question is not None
    return question


@pytest.fixture(scope="module")
def view(shipped: Shipped) -> Views:
    """What the view of a question finds with the model that ships, computed once for all tests."""
    return cache(lambda name, at: data.view(shipped, Lesson(name, "", "", final_test.pool()[name]), at + 1))


def test_the_pool_has_eighty_different_questions_over_all_lessons() -> None:
    assert len(POOL) >= 80
    assert set(final_test.pool()) == set(lessons())
    assert min(len(steps) for steps in final_test.pool().values()) >= 5
    asked = Counter(question_of(*place).ask for place in POOL)
    of_lessons = {step.question.ask for lesson in lessons().values() for step in lesson.steps if step.question}
    assert [text for text, count in asked.items() if count > 1 or text in of_lessons] == []


@pytest.mark.parametrize(("name", "at"), POOL)
def test_the_model_or_a_formula_bears_out_the_one_right_option(view: Views, name: str, at: int) -> None:
    step, question, computed = step_of(name, at), question_of(name, at), view(name, at)
    assert [(claim, dict(computed.found)) for claim in step.claims if not holds(claim, computed.found)] == []
    # What a text alone answers is right where its file says so; a view computes all else, or what it rests on.
    assert step.view == "nothing" or question.answer or step.claims
    assert not step.is_shown or computed.picture != NO_PICTURE
    for language in LANGUAGES:
        with messages.speaking(language):
            right = [is_right(option, question, computed.found) for option in question.options]
            options = [filled_plainly(option, computed.found) for option in question.options]
            texts = [filled(text, computed.found) for text in (question.ask, *filter(None, question.wrong))]
            assert right.count(True) == 1
            assert options[right.index(True)] == right_answer(question, computed.found)
            assert len(set(options)) == len(options) == 3
            assert [text == "" for text in question.wrong] == right
            assert [text for text in (*texts, *options) if "{" in text] == []
            assert unnamed(step, computed.found) == []


def test_who_always_chooses_the_same_place_gets_a_third(view: Views) -> None:
    places = Counter(
        [is_right(option, question_of(*place), view(*place).found) for option in question_of(*place).options].index(
            True
        )
        for place in POOL
    )
    assert max(places.values()) - min(places.values()) <= 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_always_chooses_the_longest_option_gets_no_more_than_who_guesses(language: str) -> None:
    """Of questions whose options are words; numbers are as long as they are."""
    is_longest = []
    for place in POOL:
        question = question_of(*place)
        if not any("{" in option or option[0].isdigit() for option in question.options):
            with messages.speaking(language):
                lengths = [len(messages._(option)) for option in question.options]
            right = lengths[question.wrong.index("")]
            is_longest.append(right == max(lengths) and lengths.count(right) == 1)
    assert len(is_longest) > 30
    assert sum(is_longest) <= 0.4 * len(is_longest)


def test_a_wrong_option_says_no_number_that_is_not_computed() -> None:
    texts = [text for place in POOL for text in question_of(*place).wrong]
    assert [text for text in texts if re.search(r"\d", re.sub(r"\{\w+[^}]*\}", "", text))] == []


def test_a_seed_draws_the_same_twenty_of_every_lesson_and_another_seed_others() -> None:
    tests = {seed: final_test.drawn(seed) for seed in range(40)}
    assert all(len(test.steps) == final_test.QUESTIONS for test in tests.values())
    assert all(
        {step.title for step in test.steps} == {of.title for of in lessons().values()} for test in tests.values()
    )
    final_test.drawn.cache_clear()
    assert final_test.drawn(7) == tests[7]
    drawn = {step.question.ask for test in tests.values() for step in test.steps if step.question}
    assert len(drawn) == len(POOL)
    assert final_test.course("final-test-7") == tests[7]
    assert [name for name in ("final-test-", "final-test-x", "final-test-1234567") if final_test.course(name)] == []


def test_a_person_who_answers_all_sees_the_result_and_what_was_wrong(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, view: Views
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
    test = final_test.drawn(3)
    opened(app, "learn", lesson=test.name)
    app.button(key="class-begin").click().run()
    wrong = {4, 17}
    for number, step in enumerate(test.steps, 1):
        assert step.question is not None
        name = next(name for name, steps in final_test.pool().items() if step in steps)
        found = view(name, final_test.pool()[name].index(step)).found
        right = [is_right(option, step.question, found) for option in step.question.options].index(True) + 1
        app.pills(key="answer").set_value(right % 3 + 1 if number in wrong else right).run()
        assert (len(healthy(app).success), len(app.warning)) == ((0, 1) if number in wrong else (1, 0)), step
        if number < len(test.steps):
            app.button(key="lesson-next").click().run()
    assert any(f"{len(test.steps) - 2} of {len(test.steps)}" in one.value for one in app.markdown)
    assert {button.key for button in app.button if str(button.key).startswith("test-wrong-")} == {
        f"test-wrong-{number}" for number in wrong
    }
    # The class has one result, in the highest band.
    code, bands = app.query_params["class"], len(result.BANDS)
    assert classes().counts(code, f"{test.name}/result", bands) == [0] * (bands - 1) + [1]
    app.button(key="test-again").click().run()
    assert final_test.course(healthy(app).query_params["lesson"]) not in (None, test)
