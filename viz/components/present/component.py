"""Show where a presentation stands, and let the keys of a clicker move it: arrows, Page Up and Page Down."""

from collections.abc import Callable

from viz.components.declare import declare
from viz.core import payload
from viz.core.widget_values import sent_number

_COMPONENT = declare("components/present/present_steps.js", "components/present/present_steps.css")


def present_steps(step: int, count: int, *, on_step: Callable[[int], None]) -> None:
    """The bar with the step, counted from 0, of so many; `on_step` is called before the next run, with another one."""

    def take() -> None:
        if (number := sent_number(0, count - 1, "present-steps", "step")) is not None:
            on_step(number)

    _COMPONENT(data=payload.pack({"step": step, "count": count}), key="present-steps", on_step_change=take)
