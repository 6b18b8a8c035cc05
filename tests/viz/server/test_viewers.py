"""Whoever is to be told of a viewer's going is told once, soon after, and not when the browser comes back in time."""

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from tests.patience import PATIENCE
from viz.server import viewers
from viz.server.viewers import LASTS, ClassAnswers


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Who is not there; a viewer who leaves has a tenth of a second to come back."""
    missing: set[str] = set()
    monkeypatch.setattr(viewers, "is_here", lambda viewer: viewer not in missing)
    monkeypatch.setattr(viewers, "GRACE", 0.1)
    monkeypatch.setattr(viewers, "INTERVAL", 0.01)
    return missing


def test_a_call_comes_after_the_viewer_has_left_and_only_then(absent: set[str]) -> None:
    departures, left, stayed = viewers.Departures(), threading.Event(), threading.Event()
    departures.add("leaves", left.set)
    departures.add("stays", stayed.set)
    assert not left.wait(0.2)
    absent.add("leaves")
    assert left.wait(PATIENCE)
    assert not stayed.is_set()


def test_a_viewer_who_comes_back_in_time_has_not_gone(absent: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewers, "GRACE", 0.5)
    departures, left = viewers.Departures(), threading.Event()
    departures.add("blinks", left.set)
    absent.add("blinks")
    time.sleep(0.1)
    absent.clear()
    assert not left.wait(0.7)


def test_what_was_undone_is_not_called(absent: set[str]) -> None:
    departures, called, other = viewers.Departures(), threading.Event(), threading.Event()
    departures.add("leaves", called.set)()
    departures.add("leaves", other.set)
    absent.add("leaves")
    assert other.wait(PATIENCE)
    assert not called.is_set()


def cookie(token: bytes, mask: bytes) -> str:
    """A token as Streamlit writes it into a cookie: under a mask that is new every time."""
    masked = bytes(value ^ mask[index % len(mask)] for index, value in enumerate(token))
    return f"2|{mask.hex()}|{masked.hex()}|1700000000"


@pytest.fixture
def in_session(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """Which viewer a session with this cookie belongs to."""

    def viewer(session: str, sent: str) -> str:
        monkeypatch.setattr(viewers, "current", lambda: session)
        monkeypatch.setattr(viewers, "st", SimpleNamespace(context=SimpleNamespace(cookies={viewers.COOKIE: sent})))
        return viewers.browser()

    return viewer


def test_two_tabs_of_one_browser_are_one_viewer_and_two_browsers_are_two(in_session: Callable[[str, str], str]) -> None:
    mine, theirs = b"m" * 16, b"t" * 16
    first = in_session("tab 1", cookie(mine, b"\x01\x02\x03\x04"))
    assert first == in_session("tab 2", cookie(mine, b"\xfa\xfb\xfc\xfd"))
    assert first != in_session("tab 3", cookie(theirs, b"\x01\x02\x03\x04"))
    # Outside of a page there is no viewer.
    assert in_session("", cookie(b"m" * 16, b"abcd")) == ""
    # The cookie is read as Streamlit writes it.
    from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

    written = [generate_xsrf_token_string(b"0123456789abcdef", 1_700_000_000) for _ in range(2)]
    assert written[0] != written[1]
    assert len({in_session(f"tab {number}", sent) for number, sent in enumerate(written)}) == 1


@pytest.mark.parametrize("sent", ["", "2", "2|zz|zz|1", "2||00|1", "1|00|00|1", "2|00||1", "x" * 10_000, "2|0|0|0|0"])
def test_without_a_cookie_that_can_be_read_a_viewer_is_a_session(
    in_session: Callable[[str, str], str], sent: str
) -> None:
    assert in_session("tab", sent) == "tab"


@pytest.mark.parametrize(("length", "is_read"), [(200, True), (201, False)])
def test_a_cookie_is_read_up_to_a_length(in_session: Callable[[str, str], str], length: int, is_read: bool) -> None:
    sent = cookie(b"m" * 16, b"abcd").ljust(length, "0")
    assert (in_session("tab", sent) != "tab") == is_read


def test_each_viewer_has_one_answer_which_can_be_changed_and_taken_back() -> None:
    classes = ClassAnswers()
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


def test_one_viewer_who_begins_many_classes_ends_none_of_others() -> None:
    now = 0.0
    classes = ClassAnswers(lambda: now)
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


def test_what_is_kept_is_bounded_on_both_sides_of_each_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOST_CLASSES", "MOST_QUESTIONS", "MOST_VIEWERS"):
        monkeypatch.setattr(viewers, name, 2)
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
