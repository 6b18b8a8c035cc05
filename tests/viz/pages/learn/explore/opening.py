"""Explore of a topic, unfolded below the step of a lesson at which it is at home."""

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.viz.page_run import opened
from tests.viz.sent import charts
from viz.selection.url import EXPLORED


def place(topic: str) -> dict[str, str]:
    """The parameters of an address that opens it."""
    lesson, step = EXPLORED[topic]
    return {"lesson": lesson, "step_of_lesson": str(step), "explore": "1"}


def exploring(app: AppTest, topic: str, **choices: object) -> AppTest:
    return opened(app, "learn", **place(topic), **choices)


def explored(app: AppTest) -> list[dict[str, Any]]:
    """The charts of Explore, which stand below that of the step if it has one."""
    of_step = sum("-lesson-" in str(chart.proto.id) for chart in app.get("plotly_chart"))
    return charts(app)[of_step:]
