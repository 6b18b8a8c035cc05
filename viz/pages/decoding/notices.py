"""What could not be done, to be said above the decoding page in its next run. Counts from 1."""

from typing import Final

import streamlit as st

from model.errors import HeadlightError
from viz.text.messages import Message, said

_NOTICES: Final = "decoding/notices"


def tell(*notices: str) -> None:
    """Say something above the page in its next run: what `said` made, in the language of that run."""
    st.session_state.setdefault(_NOTICES, []).extend(notices)


def take() -> list[str]:
    """What could not be done since the last run, each as a sentence."""
    notices: list[str] = st.session_state.pop(_NOTICES, [])
    return notices


def no_branch(number: int, have: int) -> Message:
    """The address asks for a branch that is not there."""
    if not have:
        return said(
            "The address asks for branch {number}, but there are none. This is the model's own translation.",
            number=number,
        )
    return said(
        "The address asks for branch {number}, but there are {have}. This is the model's own translation.",
        number=number,
        have=have,
    )


def no_step(step: int, have: int) -> Message:
    """The address asks for a step, from 0, beyond the last of a translation."""
    return said(
        "The address asks for step {step}, but this translation has {have}. This is the last.", step=step + 1, have=have
    )


def written_already(step: int) -> Message:
    """What is to be written at a step, from 0, stands there."""
    return said("This translation has that at step {step} already. Choose another token.", step=step + 1)


def left_out(code: str, error: HeadlightError) -> Message:
    """A branch cannot be grown, and why."""
    return said(
        "The branch “{code}” of the address is left out, with the branches that leave it. {error}",
        code=code,
        error=error,
    )
