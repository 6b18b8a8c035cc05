"""Every step of every lesson with the model that ships: it bears out what is said, in every language."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

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
    unnamed,
    with_text,
)
from viz.pages.learn.lessons.pictures import Bars, Curves, Rows, View, bars
from viz.pictures.matrix_picture.component import MatrixData
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
def view(shipped: Shipped) -> Views:
    """The view of a step with the model that ships, computed once for all tests."""
    return cache(lambda name, number: data.view(shipped, lessons()[name], number))


@pytest.mark.parametrize(("name", "number"), STEPS)
def test_the_model_that_ships_bears_out_the_step(view: Views, name: str, number: int) -> None:
    step, computed = step_of(name, number), view(name, number)
    assert [(claim, dict(computed.found)) for claim in step.claims if not holds(claim, computed.found)] == []
    assert set(computed.full.choices) <= set(FIELDS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_number_of_a_head_is_said_with_the_name_of_that_head_and_of_what_it_was_measured_over(
    view: Views, language: str
) -> None:
    with messages.speaking(language):
        assert {place: names for place in STEPS if (names := unnamed(step_of(*place), view(*place).found))} == {}


def test_a_step_opens_the_head_and_the_token_that_it_names(view: Views, shipped: Shipped) -> None:
    for name, number in STEPS:
        given, computed = step_of(name, number).given, view(name, number)
        words = [str(value) for value in computed.found.values()]
        choices: dict[str, Any] = dict(computed.full.choices)
        match str(given.get("head")).split():
            case [site, layer, head] if "." in site:
                assert computed.found["head"] == f"L{int(layer) + 1} H{int(head) + 1}", (name, number)
        if "layer" in computed.found:
            is_given = computed.found["layer"] == given.get("layer", -1) + 1
            assert is_given or f"L{computed.found['layer']} " in str(computed.found["head"]), (name, number)
        if "head" in choices:
            opened = f"L{choices['layer'] + 1} H{choices['head'] + 1}"
            assert [word for word in words if opened in word], (name, number, opened)
        trace = shipped.trace(given["text"]) if "token" in choices or "step" in choices else None
        for choice, word in (("token", "word"), ("step", "word"), ("key_token", "key")):
            if trace is not None and choice in choices and (word in given or "from" in computed.found):
                is_read = choice == "key_token" or choices.get("site") == "encoder.self"
                tokens = trace.source_tokens if is_read else [step.token for step in trace.steps]
                named = given.get(word, computed.found.get("from"))
                assert tokens[choices[choice]].removeprefix("▁") == named, (name, number, choice)


#: What is aligned as a number: digits, with a sign, a unit or “–” where there is none.
NUMBER = re.compile(r"[+−×]?[\d.,]*\d(·10[⁻⁰-⁹]+|°| ?%)?(, [+−][\d.]+)?|–|")


def test_a_picture_has_a_name_for_each_of_its_numbers_and_room_for_it(view: Views) -> None:
    for place in STEPS:
        computed = view(*place)
        match picture := computed.picture:
            case Bars():
                values = np.stack(list(picture.series.values()))
                assert values.shape[1] == len(picture.labels), place
                assert picture.top is None or values.max() <= picture.top + 1e-6, place
                # Plotly would read “</s>” as markup, and show nothing.
                assert all("<" not in (trace.name or "") for trace in bars(picture).data), place
                if picture.marked or (picture.marked is not None and re.match(r"L\d", str(picture.labels[0]))):
                    marked = str(picture.labels[picture.marked]).removeprefix("▁")
                    words = [str(value) for value in computed.found.values()]
                    assert marked in [*words, f"mean of all {computed.found.get('heads')} heads"], place
            case Curves():
                assert {len(values) for values in picture.lines.values()} == {len(picture.x)}, place
                assert picture.upright is None or picture.x.min() <= picture.upright <= picture.x.max(), place
            case Rows():
                assert {len(row) for row in picture.rows} == {len(picture.columns)}, place
                for column, cells in zip(picture.columns, zip(*picture.rows, strict=True), strict=True):
                    are_numbers = all(NUMBER.fullmatch(str(cell)) for cell in cells)
                    # What is computed by hand has its numbers within text.
                    assert column.is_number or not are_numbers or step_of(*place).view == "by_hand", (
                        place,
                        column.title,
                    )
            case MatrixData():
                assert picture.values.shape == (len(picture.row_tokens), len(picture.column_tokens)), place
                low, high = picture.values.min(), picture.values.max()
                assert picture.scale.low - 1e-6 <= low <= high <= picture.scale.high + 1e-6, place


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_step_can_be_told_in_every_language(view: Views, language: str) -> None:
    with messages.speaking(language):
        texts = {place: _told(*place, view(*place)) for place in STEPS}
    assert [(place, text) for place in STEPS for text in texts[place] if not text or "{" in text] == []


def test_a_text_above_a_picture_has_at_most_sixty_words_once_it_is_filled(view: Views) -> None:
    words = {place: len(filled_plainly(step_of(*place).text, view(*place).found).split()) for place in STEPS}
    assert {place: count for place, count in words.items() if count > 60} == {}


def test_a_sentence_of_ones_own_takes_the_place_of_the_steps(view: Views, shipped: Shipped) -> None:
    own = [place for place in STEPS if step_of(*place).own]
    assert len(own) > 8
    for name, number in own:
        step, changed = step_of(name, number), with_text(lessons()[name], number, "Tom gave me a red bicycle.")
        # A question and a claim are about the sentence that they were written for.
        assert (step.question, changed.steps[number - 1].claims) == (None, ())
        computed = data.view(shipped, changed, number)
        assert "{" not in filled(step.text, computed.found)
        assert (dict(computed.found), computed.full.choices) != (
            dict(view(name, number).found),
            view(name, number).full.choices,
        )


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


def test_every_wrong_option_has_a_text_and_no_right_one_does(view: Views) -> None:
    for place, question in QUESTIONS.items():
        is_wrong = [not is_right(option, question, view(*place).found) for option in question.options]
        assert [bool(text) for text in question.wrong] == is_wrong, place


def test_a_question_has_three_options_and_its_wrong_ones_name_no_number_that_is_not_computed() -> None:
    assert [place for place, question in QUESTIONS.items() if len(question.options) < 3] == []
    texts = [text for question in QUESTIONS.values() for text in question.wrong]
    assert [text for text in texts if re.search(r"\d", re.sub(r"\{\w+[^}]*\}", "", text))] == []


def test_an_answer_is_not_what_always_stands_first(view: Views) -> None:
    """Who always chose the first option would else be right."""
    places = defaultdict(list)
    for place, one in QUESTIONS.items():
        right = [is_right(option, one, view(*place).found) for option in one.options]
        places[place[0]].append(right.index(True))
    counts = Counter(at for of_lesson in places.values() for at in of_lesson)
    assert max(counts.values()) < 0.45 * counts.total()
    assert [name for name, of_lesson in places.items() if len(of_lesson) > 2 and len(set(of_lesson)) == 1] == []


def _told(name: str, number: int, computed: View) -> list[str]:
    """What a person reads beside the picture."""
    lesson, step = lessons()[name], step_of(name, number)
    texts = [messages._(lesson.title), messages._(lesson.section), messages._(step.title), shown(computed.caption)]
    texts.append(filled(step.text, computed.found))
    if step.question is not None:
        texts += [filled(text, computed.found) for text in (step.question.ask, step.question.because)]
        texts += [filled(text, computed.found) for text in step.question.wrong if text]
    return texts
