"""The end of a lesson: what to remember, something to try, an exercise with a checked answer, and its program."""

from typing import Final

import streamlit as st

from viz.pages.learn.lessons.data import programs
from viz.pages.learn.lessons.lesson import Check, Lesson, filled
from viz.text.messages import _
from viz.ui import frame, terms

#: In the session: exercise → the answer that was given last.
_GIVEN: Final = "lessons/exercises"
#: In the session: the exercise whose answer a person has just asked to have checked.
_ASKED: Final = "lessons/exercise-asked"
Answer = int | float | tuple[tuple[int, ...], ...]


def show(lesson: Lesson) -> None:
    """Show the summary, the exercise and the program of a lesson."""
    with st.container(border=True, key="lesson-ending"):
        terms.markdown("\n".join((f"**{_('Summary')}**\n", *(f"- {filled(line, {})}" for line in lesson.summary))))
        terms.markdown(_("**Try it:** {exercise}", exercise=_(lesson.exercise)))
    if lesson.check is not None:
        with st.container(border=True, key="lesson-exercise"):
            _exercise(lesson.name, lesson.check)
    if source := programs.program(lesson.name):
        frame.unfolding(_("In PyTorch"), "lesson-program", _program, source)


def _program(source: str) -> None:
    st.code(source, language="python", wrap_lines=True)
    frame.caption(
        "A test compares this program with the model's numbers. It can be copied and run; the notebook "
        "5-in-ten-lines.ipynb contains all these programs."
    )


def _exercise(name: str, check: Check) -> None:
    terms.markdown(_("**Exercise:** {ask}", ask=filled(check.ask, {})))
    right: Answer
    given: Answer | None
    match check.kind:
        case "line":
            source, right = programs.changed(name, check)
            st.code(source, language="python", line_numbers=True, wrap_lines=True)
            given = st.number_input(
                _("Line"), 1, len(source.splitlines()), None, key=f"exercise-{name}", width=160, placeholder="?"
            )
            is_right = given == right
        case "value":
            right = programs.value(check)
            given = st.number_input(_("Your answer"), value=None, key=f"exercise-{name}", width=240, placeholder="?")
            is_right = given is not None and abs(given - right) <= 0.5 * 10.0 ** -check.given["digits"] + 1e-9
        case "cells":
            given, right = _cells(name, check)
            is_right = given == right
    answers: dict[str, Answer] = st.session_state.setdefault(_GIVEN, {})
    st.button(_("Check"), key=f"exercise-check-{name}", icon=":material/check:", on_click=_ask, args=(name,))
    if st.session_state.pop(_ASKED, "") == name and given is not None:
        answers[name] = given
    if given is None or answers.get(name) != given:
        return
    if is_right:
        st.success(_("**Right.** {because}", because=filled(check.because, {})), icon=":material/check:")
    else:
        st.warning(_("**Not yet.** {hint}", hint=filled(check.hint, {})), icon=":material/close:")


def _ask(name: str) -> None:
    """A person wants the answer of an exercise checked, as it stands when the page is drawn next."""
    st.session_state[_ASKED] = name


def _cells(name: str, check: Check) -> tuple[Answer, Answer]:
    """The cells that a person has chosen, and the right ones: of each position, those that it may attend to."""
    allowed = programs.allowed(check)
    chosen = []
    for at in range(1, len(allowed) + 1):
        label = _("Position {at} may attend to", at=at)
        positions = list(range(1, len(allowed) + 1))
        row = st.pills(label, positions, selection_mode="multi", key=f"exercise-{name}-{at}")
        chosen.append(tuple(sorted(row)))
    return tuple(chosen), tuple(tuple(int(key) + 1 for key in row.nonzero()[0]) for row in allowed)
