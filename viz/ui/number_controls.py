"""Widgets that show numbers of the selection, and the button for a table.

A number that a link asks for and that does not exist becomes the nearest that does, and a sentence says so. Knows
nothing of the model: what can be chosen is passed in.
"""

from collections.abc import Callable

import streamlit as st

from viz.selection import state
from viz.text.messages import _
from viz.text.messages import shown as text_shown


def settle(field: str, low: int, high: int, name: str, shown: Callable[[int], str] = str) -> None:
    """Set a field of the selection to the nearest number that exists, and say so where that is another one.

    `name` says what the number is, as a sentence begins; `shown` writes it for people.
    """
    asked = state.value(field, int)
    nearest = min(max(asked, low), high)
    if nearest == asked:
        return
    state.change(**{field: nearest})
    message = "{name} {asked} is out of range ({low} to {high}); {nearest} is shown."
    st.info(
        _(message, name=name, asked=shown(asked), low=shown(low), high=shown(high), nearest=shown(nearest)),
        icon=":material/info:",
    )


def hundredths(value: int) -> str:
    """A number of hundredths as people write it."""
    return f"{value / 100:.2f}"


def whole_slider(field: str, label: str, low: int, high: int, *, help_text: str) -> None:
    """A slider over whole numbers."""
    st.slider(text_shown(label), low, high, help=text_shown(help_text), width=220, **state.bound(field))


def hundredths_slider(field: str, label: str, low: int, high: int, *, help_text: str) -> None:
    """A slider over a number that the selection keeps in hundredths."""
    st.slider(
        text_shown(label),
        low / 100,
        high / 100,
        step=0.01,
        format="%.2f",
        help=text_shown(help_text),
        width=220,
        **state.bound(field, state.value(field, int) / 100, read=_in_hundredths),
    )


def number(field: str, label: str, low: int, high: int, *, help_text: str) -> None:
    """A whole number to be typed."""
    st.number_input(
        text_shown(label),
        min_value=low,
        max_value=high,
        step=1,
        help=text_shown(help_text),
        width=140,
        **state.bound(field),
    )


def table_button(label: str, make: Callable[[], bytes], name: str) -> None:
    """A button that saves a table, made when it is pressed; `name` is the file's without its ending."""
    st.download_button(
        text_shown(label),
        make,
        f"{name}.csv",
        "text/csv",
        key=f"table-{name}",
        icon=":material/download:",
        on_click="ignore",
    )


def _in_hundredths(value: float) -> int:
    return round(value * 100)
