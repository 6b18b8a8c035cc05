"""What a class answers is counted once for each viewer, within bounds, in memory or for all servers of a folder."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from viz.server import class_answers
from viz.server.class_answers import LASTS, ClassAnswers

Made = Callable[..., ClassAnswers]


@pytest.fixture(params=["memory", "folder"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    """Makes the answers of a server; two of them share a folder, where they have one."""
    folder = tmp_path / "classes" if request.param == "folder" else None

    def make(clock: Callable[[], float] = time.time) -> ClassAnswers:
        return ClassAnswers(clock, folder)

    return make


def test_each_viewer_has_one_answer_which_can_be_changed_and_taken_back(made: Made) -> None:
    classes = made()
    code = classes.begin("teacher")
    for viewer, option in (("a", 1), ("b", 2), ("c", 2), ("a", 3), ("c", 0)):
        classes.answer(code, "it/2", viewer, option)
    assert classes.counts(code, "it/2", 3) == [0, 1, 1]
    assert classes.counts(code, "it/3", 3) == [0, 0, 0]
    assert [classes.is_host(code, viewer) for viewer in ("teacher", "a")] == [True, False]
    # Classes are apart, and end with their answers.
    first, second = classes.begin("t"), classes.begin("t")
    for code in (first, second, "made up"):
        classes.answer(code, "q", "a", 1)
    classes.end(first)
    assert [classes.is_open(code) for code in (first, second, "made up")] == [False, True, False]
    assert [classes.counts(code, "q", 1) for code in (first, second, "made up")] == [[0], [1], [0]]
    assert not classes.is_host(first, "t")


def test_a_class_ends_an_hour_after_its_last_answer_and_not_before(made: Made) -> None:
    now = 0.0
    classes = made(lambda: now)
    code = classes.begin("t")
    now = LASTS
    classes.answer(code, "q", "a", 1)
    now = 2 * LASTS
    assert classes.is_open(code)
    now += 1
    assert not classes.is_open(code)


def test_one_viewer_who_begins_many_classes_ends_none_of_others(made: Made) -> None:
    now = 0.0
    classes = made(lambda: now)
    quiet = classes.begin("teacher")
    now = 1.0
    begun = [classes.begin("pupil") for _number in range(101)]
    assert classes.is_open(quiet)
    assert [classes.is_open(code) for code in begun] == [False] * 96 + [True] * 5
    # Where many have begun one each, the quietest of those who have most ends.
    others = [classes.begin(f"other {number}") for number in range(94)]
    now = 2.0
    classes.answer(begun[-5], "q", "a", 1)
    assert classes.is_open(classes.begin("one more"))
    assert [classes.is_open(code) for code in begun[-5:]] == [True, False, True, True, True]
    assert all(map(classes.is_open, [quiet, *others]))


def test_what_is_kept_is_bounded_on_both_sides_of_each_bound(monkeypatch: pytest.MonkeyPatch, made: Made) -> None:
    for name in ("MOST_CLASSES", "MOST_QUESTIONS", "MOST_VIEWERS"):
        monkeypatch.setattr(class_answers, name, 2)
    now = 0.0
    classes = made(lambda: now)
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


def test_two_servers_count_the_answers_of_both_and_one_that_stops_takes_none_along(tmp_path: Path) -> None:
    first, second = (ClassAnswers(folder=tmp_path / "classes") for _server in range(2))
    code = first.begin("teacher")
    with ThreadPoolExecutor(8) as pupils:
        for number in range(40):
            server = (first, second)[number % 2]
            pupils.submit(server.answer, code, "it/2", f"pupil {number}", 1 + number % 3)
    assert first.counts(code, "it/2", 3) == second.counts(code, "it/2", 3) == [14, 13, 13]
    del first
    # Who answered at the server that stopped is known at the other one.
    second.answer(code, "it/2", "pupil 0", 2)
    assert second.counts(code, "it/2", 3) == [13, 14, 13]
    assert (second.is_host(code, "teacher"), second.is_host(code, "pupil 0")) == (True, False)
    second.end(code)
    assert not any((tmp_path / "classes").glob("*.json"))


SECRET = '{"host": "h", "last": 9e9, "questions": {"q": {"a": 1}}}'


@pytest.mark.parametrize("code", ["../secret", "0" * 9, "0A000000", "", "/"])
def test_a_code_of_an_address_names_no_other_file(tmp_path: Path, code: str) -> None:
    (tmp_path / "secret.json").write_text(SECRET, encoding="utf-8")
    classes = ClassAnswers(folder=tmp_path / "classes")
    classes.answer(code, "q", "b", 1)
    classes.end(code)
    assert not classes.is_open(code)
    assert classes.counts(code, "q", 1) == [0]
    assert (tmp_path / "secret.json").read_text(encoding="utf-8") == SECRET


def test_a_damaged_file_is_no_class(tmp_path: Path) -> None:
    classes = ClassAnswers(folder=tmp_path)
    code, other = classes.begin("t"), classes.begin("t")
    for content in ("", "[1]", '{"host": 1}', "\ud800"):
        (tmp_path / f"{code}.json").write_text(content, encoding="utf-8", errors="surrogatepass")
        assert [classes.is_open(each) for each in (code, other)] == [False, True]
