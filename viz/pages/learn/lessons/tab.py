"""Lessons, of the page that teaches: a step at a time, each a picture of the model and some words, some a question."""

from typing import TYPE_CHECKING

from viz.ui import frame

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


@frame.fragment
def show(head: "DeltaGenerator") -> None:
    """The list of lessons and the open step."""
    head.caption("The paper, lesson by lesson.")
