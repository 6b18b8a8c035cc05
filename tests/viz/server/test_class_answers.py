"""A class's answers: one of each viewer, bounded, without names, forgotten in time."""

import pytest

from viz.server import class_answers
from viz.server.class_answers import LASTS, ClassAnswers


def test_each_viewer_has_one_answer_which_can_be_changed_and_taken_back() -> None:
    classes = ClassAnswers()
    code = classes.begin("teacher")
    for viewer, option in (("a", 1), ("b", 2), ("c", 2), ("a", 3), ("c", 0)):
        classes.answer(code, "it/2", viewer, option)
    assert classes.counts(code, "it/2", 3) == [0, 1, 1]
    assert classes.counts(code, "it/3", 3) == [0, 0, 0]
    assert [classes.is_host(code, viewer) for viewer in ("teacher", "a")] == [True, False]


def test_classes_are_apart_and_end_with_their_answers() -> None:
    classes = ClassAnswers()
    first, second = classes.begin("t"), classes.begin("t")
    for code in (first, second, "made up"):
        classes.answer(code, "q", "a", 1)
    classes.end(first)
    assert [classes.is_open(code) for code in (first, second, "made up")] == [False, True, False]
    assert [classes.counts(code, "q", 1) for code in (first, second, "made up")] == [[0], [1], [0]]
    assert not classes.is_host(first, "t")


def test_a_class_ends_an_hour_after_its_last_answer_and_not_before() -> None:
    now = 0.0
    classes = ClassAnswers(lambda: now)
    code = classes.begin("t")
    now = LASTS
    classes.answer(code, "q", "a", 1)
    now = 2 * LASTS
    assert classes.is_open(code)
    now += 1
    assert not classes.is_open(code)


def test_what_is_kept_is_bounded_on_both_sides_of_each_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOST_CLASSES", "MOST_QUESTIONS", "MOST_VIEWERS"):
        monkeypatch.setattr(class_answers, name, 2)
    now = 0.0
    classes = ClassAnswers(lambda: now)
    first = classes.begin("t")
    for question in ("p", "q", "r"):
        for viewer in ("a", "b", "c"):
            classes.answer(first, question, viewer, 1)
    assert [classes.counts(first, question, 1) for question in ("p", "q", "r")] == [[2], [2], [0]]
    now = 1.0
    second = classes.begin("t")
    assert classes.is_open(first)
    third = classes.begin("t")
    assert [classes.is_open(code) for code in (first, second, third)] == [False, True, True]
