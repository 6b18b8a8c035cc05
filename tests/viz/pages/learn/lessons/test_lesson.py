"""A lesson's file is read whole or refused, and a claim is a comparison of what a view has found."""

import re
from pathlib import Path
from typing import get_args

import pytest

from viz.locale import __main__ as locale
from viz.pages.learn.lessons.lesson import LessonFileError, Step, filled_plainly, holds, lessons, read
from viz.selection.choices import AttentionTab, CoreferenceTab, DecodingTab, ExperimentsTab, LearnTab
from viz.text import messages

WHOLE = """
title = "Title"
section = "§3"
summary = ["One.", "Two.", "Three."]
exercise = "Try it."
[[steps]]
title = "Step"
text = "Text {weight:.2f}."
view = "row"
claims = ["weight > 0.5"]
[steps.question]
ask = "Which?"
options = ["a", "b"]
wrong = ["", "It would have to be a."]
answer = "top"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "07_two_words.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_lesson_is_named_by_its_file_and_keeps_its_steps(tmp_path: Path) -> None:
    lesson = read(written(tmp_path, WHOLE))
    assert (lesson.name, lesson.title, lesson.section) == ("two-words", "Title", "§3")
    (step,) = lesson.steps
    assert (step.view, step.claims) == ("row", ("weight > 0.5",))
    assert step.question is not None
    assert (step.question.options, step.question.because) == (("a", "b"), "")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('view = "row"', "", "lacking ['view']"),
        ('view = "row"', 'view = "row"\ncolour = "red"', "unknown ['colour']"),
        ("weight > 0.5", "weight is large", "a claim is"),
        ('answer = "top"', "", "lacking ['answer']"),
        ('section = "§3"', "", "lacking ['section']"),
        ('wrong = ["", "It would have to be a."]', "", "lacking ['wrong']"),
        ('wrong = [""', 'wrong = ["", ""', "2 options, but 3"),
    ],
)
def test_a_file_that_lacks_something_or_has_more_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(LessonFileError) as refused:
        read(written(tmp_path, WHOLE.replace(old, new)))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("claim", "is_true"),
    [
        ("weight > 0.5", True), ("weight < 0.5", False), ("weight >= other", True), ("weight != other", False),
        ("top == 'animal'", True), ("top == 'street'", False), ("low > -1.5", True), ("nothing > 0", False),
    ],
)  # fmt: skip
def test_a_claim_compares_numbers_and_words(claim: str, is_true: bool) -> None:
    found: dict[str, float | str] = {
        "weight": 0.75,
        "other": 0.75,
        "top": "animal",
        "low": -1.0,
        "nothing": float("nan"),
    }
    assert holds(claim, found) == is_true


def test_a_claim_about_what_no_view_finds_is_the_file_s_mistake() -> None:
    with pytest.raises(LessonFileError, match="weight"):
        holds("length > 1", {"weight": 0.5})


def test_numbers_in_a_text_are_written_as_people_write_them() -> None:
    text = "{less:+.1f}, {more:+.1f}, {near:.0e}, {nearer:.1g}, {none:.0e}, {count:,}"
    found = {"less": -1.46, "more": 2.0, "near": 2.7e-07, "nearer": 6e-08, "none": 0.0, "count": 8000}
    assert filled_plainly(text, found) == "−1.5, +2.0, 3·10⁻⁷, 6·10⁻⁸, 0, 8,000"


def test_the_lessons_follow_the_paper_and_have_four_to_ten_steps() -> None:
    known = lessons()
    assert list(known)[:3] == ["one-sentence", "look-up", "scaled-dot-product"]
    assert {name: len(lesson.steps) for name, lesson in known.items() if not 4 <= len(lesson.steps) <= 10} == {}
    assert all(any(step.question for step in lesson.steps) for lesson in known.values())
    assert all(step.claims for lesson in known.values() for step in lesson.steps)
    assert {name: len(lesson.summary) for name, lesson in known.items() if len(lesson.summary) != 3} == {}
    assert [name for name, lesson in known.items() if not lesson.exercise] == []


@pytest.mark.parametrize("language", messages.languages())
def test_an_exercise_names_pages_tabs_and_controls_that_there_are(language: str) -> None:
    # A catalogue has every text of the source (tests/viz/locale), and is read in a thirtieth of the time.
    catalogue = locale.read(messages.FOLDER / "zh.po")
    ids = [message.id for message in catalogue if isinstance(message.id, str)]
    with messages.speaking(language):
        # A label that names the open model is quoted with the name of the one that ships.
        known = {messages._(text).replace("{name}", "en-de") for text in ids}
        exercises = [messages._(lesson.exercise) for lesson in lessons().values()]
    unquoted = r"(?:the|[Oo]pen|choose) ([A-Z][\w ]*?)(?= tab\b| page\b| on the |,| and )"
    named = {name for text in exercises for name in (*re.findall("“([^”]+)”", text), *re.findall(unquoted, text))}
    assert named - known == set()


def test_an_exercise_names_a_tab_of_its_page_and_a_step_that_has_something_to_explore() -> None:
    tabs = {
        "Learn": LearnTab, "Attention": AttentionTab, "Decode": DecodingTab, "Compare": CoreferenceTab,
        "Experiments": ExperimentsTab,
    }  # fmt: skip
    exercises = {lesson.name: lesson.exercise for lesson in lessons().values()}
    tab_and_page = r"(?:the|[Oo]pen) ([A-Z][\w ]*?) (?:tab of|on) the (\w+) page"
    named = [pair for text in exercises.values() for pair in re.findall(tab_and_page, text)]
    assert len(named) > 5
    assert [(tab, page) for tab, page in named if tab not in get_args(tabs[page])] == []
    unfolded = [
        (name, lessons()[name].steps[int(number) - 1].explore)
        for name, text in exercises.items()
        for number in re.findall(r"Explore below step (\d+)", text)
    ]
    assert len(unfolded) > 3
    assert [name for name, topic in unfolded if not topic] == []


def test_a_text_that_names_a_lesson_by_its_number_means_one_that_there_is() -> None:
    """Lessons are counted from 0; one that was put in between moves the others."""
    about = {
        2: "scaled-dot-product", 3: "many-heads", 5: "feed-forward", 9: "loss", 12: "ablations", 13: "it",
        14: "often-said",
    }  # fmt: skip
    names = list(lessons())
    texts = [text for lesson in lessons().values() for step in lesson.steps for text in said_in(step)]
    named = {int(number) for text in texts for number in re.findall(r"[Ll]esson (\d+)", text)}
    assert named == set(about)
    assert {number: names[number] for number in about} == about


def said_in(step: Step) -> list[str]:
    return [step.text, step.question.because] if step.question is not None else [step.text]
