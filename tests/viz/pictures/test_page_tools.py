"""What the browser says that was pressed in the head of a page."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.sent import caught, sent_to
from viz.pictures.page_tools import HeadPlace, Undone, head_tools, present_steps
from viz.pictures.payload import read
from viz.text.sites import CROSS


@pytest.mark.parametrize("value", [None, 3, {}, {"name": 1, "total": 2}, {"name": "a"}, {"name": "a", "total": True}])
def test_what_is_no_count_is_not_heard(value: object) -> None:
    assert read(Undone, value) is None


def test_of_presses_that_follow_fast_none_is_lost_and_none_is_heard_twice() -> None:
    heard = None
    steps = []
    for total in (1, 4, 4, 2):
        told = read(Undone, {"name": "a", "total": total})
        assert told is not None
        steps.append(told.steps_since(heard))
        heard = told
    assert steps == [1, 3, 0, -2]


def test_the_buttons_of_another_page_count_anew() -> None:
    assert Undone("b", 1).steps_since(Undone("a", 5)) == 1


def test_the_browser_is_told_what_was_heard_so_that_a_lost_press_is_told_again() -> None:
    def script() -> None:
        import streamlit as st

        from viz.pictures.page_tools import Undone, head_tools

        st.session_state.setdefault("head-tools/heard", Undone("a", 4))
        head_tools(
            is_presented=False,
            is_pinned=False,
            has_story=False,
            on_undo=lambda by: None,
            on_pin=lambda: None,
            on_present=lambda to: None,
            on_story=lambda: None,
            on_head=lambda head: None,
        )

    ((header, _),) = sent_to(AppTest.from_function(script).run(), "head_tools")
    assert header["heard"] == ["a", 4]


def test_a_presentation_goes_to_steps_that_exist_and_begins_or_ends_by_its_button(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown, steps, presented = caught(monkeypatch), list[int](), list[bool]()
    opened = list[HeadPlace]()
    present_steps(1, 3, on_step=steps.append)
    head_tools(
        is_presented=False,
        is_pinned=False,
        has_story=True,
        on_undo=lambda by: None,
        on_pin=lambda: None,
        on_present=presented.append,
        on_story=lambda: None,
        on_head=opened.append,
    )
    for number in (0, 2, 3, -1, True, "1", None, 1.0):
        shown[0].answers["step"]({"to": number})
        shown[1].answers["present"]({"to": number})
    assert steps == [0, 2]
    assert presented == [False]
    for site, layer in ((CROSS, 1), ("x", 1), (CROSS, -1), (CROSS, "1")):
        shown[1].answers["head"]({"site": site, "layer": layer, "head": 0})
    assert opened == [HeadPlace(CROSS, 1, 0)]
