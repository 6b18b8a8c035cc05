"""What the browser says that was pressed in the head of a page."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.sent import sent_to
from viz.components.head_tools.component import new_steps, read_total


@pytest.mark.parametrize("value", [None, 3, {}, {"name": 1, "total": 2}, {"name": "a"}, {"name": "a", "total": True}])
def test_what_is_no_count_is_not_heard(value: object) -> None:
    assert read_total(value) is None


def test_of_presses_that_follow_fast_none_is_lost_and_none_is_heard_twice() -> None:
    heard = None
    steps = []
    for total in (1, 4, 4, 2):
        told = read_total({"name": "a", "total": total})
        assert told is not None
        steps.append(new_steps(heard, told))
        heard = told
    assert steps == [1, 3, 0, -2]


def test_the_buttons_of_another_page_count_anew() -> None:
    assert new_steps(("a", 5), ("b", 1)) == 1


def test_the_browser_is_told_what_was_heard_so_that_a_lost_press_is_told_again() -> None:
    def script() -> None:
        import streamlit as st

        from viz.components.head_tools.component import head_tools

        st.session_state.setdefault("head-tools/heard", ("a", 4))
        head_tools(
            is_presented=False,
            is_pinned=False,
            on_undo=lambda by: None,
            on_pin=lambda: None,
            on_present=lambda to: None,
        )

    ((header, _),) = sent_to(AppTest.from_function(script).run(), "head_tools")
    assert header["heard"] == ["a", 4]
