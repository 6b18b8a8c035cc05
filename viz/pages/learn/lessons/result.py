"""The result of a final test: how many answers were right, for oneself, and for a class in bars."""

from collections.abc import Mapping
from random import randrange
from typing import Final

import streamlit as st

from viz.pages.learn.lessons import classroom, final_test
from viz.pages.learn.lessons.lesson import Lesson
from viz.selection import state
from viz.text.messages import _
from viz.ui import frame

#: The bands of results that are counted in a class: from so many right answers on.
BANDS: Final = (0, 10, 14, 17)


def show(test: Lesson, seen: Mapping[tuple[str, int], bool]) -> None:
    """How many first answers were right, which were not, and a new draw. `seen`: name and step → answered rightly."""
    answers = _answers(test, seen)
    with st.container(border=True, key="test-result"):
        right, total = sum(answers.values()), len(test.steps)
        st.markdown(_("**Result: {right} of {total} right on the first try**", right=right, total=total))
        if len(answers) < total:
            frame.caption("Answered so far: {answered} of {total}.", answered=len(answers), total=total)
        for number in (number for number, is_right in answers.items() if not is_right):
            label = _("{number}. {title}", number=number, title=_(test.steps[number - 1].title))
            st.button(
                label, key=f"test-wrong-{number}", icon=":material/close:", type="tertiary", on_click=state.choose,
                kwargs={"lesson_step": number},
            )  # fmt: skip
        st.button(_("New questions"), key="test-again", icon=":material/refresh:", on_click=_again)


def of_class(test: Lesson, seen: Mapping[tuple[str, int], bool]) -> None:
    """Count the result in the class, if there is one and all is answered, and show how many have which."""
    answers = _answers(test, seen)
    ends = (*(band - 1 for band in BANDS[1:]), len(test.steps))
    bands = [_("{low} to {high} right", low=low, high=high) for low, high in zip(BANDS, ends, strict=True)]
    reached = sum(sum(answers.values()) >= low for low in BANDS)
    classroom.count(f"{test.name}/result", bands, reached if len(answers) == len(test.steps) else 0)


def _answers(test: Lesson, seen: Mapping[tuple[str, int], bool]) -> dict[int, bool]:
    """Of each question that was answered, whether its first answer was right."""
    return {number: is_right for (name, number), is_right in sorted(seen.items()) if name == test.name}


def _again() -> None:
    state.choose(lesson=final_test.name_of(randrange(final_test.SEEDS)))
