"""What the browser says that was pressed in the head of a page."""

import pytest

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
