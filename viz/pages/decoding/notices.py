"""What several tabs of the decoding page say: what could not be done, probabilities, the step. Counts from 1."""

from typing import Final

import streamlit as st

from model.errors import HeadlightError
from viz.access import models
from viz.selection import state
from viz.text.messages import Message, _, said
from viz.ui import frame

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
        message = "The URL names branch {number}, but there are no branches. The model's own translation is shown."
        return said(message, number=number)
    message = "The URL names branch {number}, but there are {have}. The model's own translation is shown."
    return said(message, number=number, have=have)


def no_step(step: int, have: int) -> Message:
    """The address asks for a step, from 0, beyond the last of a translation."""
    message = "The URL names step {step}, but this translation has {have}. The last step is shown."
    return said(message, step=step + 1, have=have)


def written_already(step: int) -> Message:
    """The token to be written at a step (from 0) is already there."""
    return said("This translation already has that token at step {step}. Choose another token.", step=step + 1)


def left_out(code: str, error: HeadlightError) -> Message:
    """A branch cannot be grown, and why."""
    message = "The branch “{code}” of the URL is ignored, together with the branches that start from it. {error}"
    return said(message, code=code, error=error)


def percent(probability: float) -> str:
    """In percent; what is not certain never reads as 100 %, nor what is possible as 0 %."""
    value = 100 * probability
    if 0 < value < 0.1:
        return "< 0.1%"
    if 99.9 < value < 100:
        return "> 99.9%"
    return f"{value:.1f}%" if value < 9.95 or value > 99 else f"{value:.0f}%"


def label_smoothing_note() -> str:
    """What label smoothing does to the chosen model's probabilities; "" where its training record names none.

    The target of the right token is 1 − ε + ε / vocabulary, that of every other token ε / vocabulary (§5.4).
    """
    choice = state.current().model
    smoothing = models.label_smoothing(choice)
    if smoothing is None:
        return ""
    tokens = len(models.vocabulary(models.reader(choice)))
    target = 1 - smoothing + smoothing / tokens
    message = (
        "Trained with label smoothing ε = {smoothing:g} (§5.4): the target was {target:.0%} for the right token and ε "
        "/ {tokens:,} for every other. So a confident choice ends near {target:.0%}, and no token at 0."
    )
    return _(message, smoothing=smoothing, target=target, tokens=tokens)


def slider(steps: int) -> int:
    """The chosen step, from 0."""
    if steps == 1:
        frame.small_print("This translation has only one step.")
        return 0
    chosen = st.select_slider(_("Step"), range(steps), format_func=lambda step: str(step + 1), **state.bound("step"))
    return int(chosen)
