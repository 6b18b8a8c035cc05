"""Present a page on a projector: large, one picture a screen, next and back by the keys of a clicker.

A page asks `is_on` what to leave out, and says by `steps` which screens it has. A picture that arrow keys move already,
as the film's, needs no `steps`. Styles are in `present.css`: what a component shows on the page alone, it hides by the
property `--in-page`, and no picture is higher than `--picture-height`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from viz.pictures.page_tools import present_steps
from viz.selection import state

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: As `--zoom` in `present.css`.
ZOOM: Final = 1.5
#: Pixels of the smallest letters of a chart.
SMALLEST_LETTERS: Final = 18
#: What a chart may take of the height of a screen of 1024 × 768, in pixels of the page, each of which is `ZOOM` wide.
CHART_HEIGHT: Final = 310


def is_on() -> bool:
    """Whether a projector shows the page."""
    return state.current().common.presented == "1"


def switch(is_presented: bool) -> None:
    """Begin or end it."""
    state.choose(presented="1" if is_presented else "")


def steps(count: int, field: str, first: int = 0) -> int:
    """Where the presentation of a page stands, as a value of `field`, by which an address says it.

    While one is on, keys and buttons move it from `first`, over `count` steps.
    """
    chosen = min(max(state.value(field, int), first), first + count - 1)
    if is_on():
        with st.container(key="present-bar"):
            present_steps(chosen - first, count, on_step=lambda step: state.choose(**{field: first + step}))
    return chosen


def enlarged(figure: "Figure") -> "Figure":
    """A chart of plotly with letters and height for a projector: plotly itself knows nothing of the page's zoom."""
    spec = _with_large_letters(figure.to_dict())
    larger = type(figure)(spec)
    letters = {"size": SMALLEST_LETTERS}
    for axes in (larger.select_xaxes(), larger.select_yaxes()):
        for axis in axes:
            if axis.tickfont.size is None:
                axis.tickfont = letters
            if axis.title.font.size is None:
                axis.title.font = letters
            if axis.type == "log":
                # Between its powers of ten plotly writes smaller digits.
                axis.update(dtick=1, exponentformat="SI")
            elif axis.exponentformat == "power":
                # The digits of an exponent would be smaller.
                axis.exponentformat = "e"
    height = min(figure.layout.height or CHART_HEIGHT, CHART_HEIGHT)
    larger.update_layout(height=height, font_size=SMALLEST_LETTERS)
    return larger


def _with_large_letters(spec: Any) -> Any:
    """The same nested settings of plotly, every size of letters in them multiplied."""
    if isinstance(spec, Mapping):
        larger = {name: _with_large_letters(part) for name, part in spec.items()}
        return {
            name: part | {"size": max(SMALLEST_LETTERS, part["size"] * ZOOM)}
            if name.endswith("font") and isinstance(part, dict) and isinstance(part.get("size"), (int, float))
            else part
            for name, part in larger.items()
        }
    if isinstance(spec, (list, tuple)):
        return [_with_large_letters(part) for part in spec]
    return spec
