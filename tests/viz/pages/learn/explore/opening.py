"""Explore of a topic, unfolded below the step of a lesson at which it is at home."""

from streamlit.testing.v1 import AppTest

from tests.viz.page_run import opened
from viz.selection.url import EXPLORED


def place(topic: str) -> dict[str, str]:
    """The parameters of an address that opens it."""
    lesson, step = EXPLORED[topic]
    return {"lesson": lesson, "step_of_lesson": str(step), "explore": "1"}


def exploring(app: AppTest, topic: str, **choices: object) -> AppTest:
    return opened(app, "learn", **place(topic), **choices)
