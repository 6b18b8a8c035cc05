"""The widgets that several pages share: the choice of site, layer, head and token.

Each shows one field of the selection (`viz.selection.state`) and returns its value. Labels count from 1, values from 0.
"""

from collections.abc import Mapping, Sequence
from math import log
from typing import Final

import streamlit as st

from viz.core import sites
from viz.selection import state
from viz.selection.attention import BERTVIZ_VIEWS, DRAWN_AS, ORDERS
from viz.selection.common import MEASURE_NAMES
from viz.selection.masks_positions import SIDES
from viz.ui.measures import MEASURES

#: As large as a number in the URL may be.
MAX_SEED: Final = 999_999
#: The widths and bases that the formula of the positions can be tried with.
MAX_WIDTH: Final = 512
BASES: Final = tuple(digit * 10**power for power in range(6) for digit in (1, 2, 5) if digit * 10**power > 1)


def site(offered: Sequence[str]) -> str:
    """Which of the three attentions."""
    chosen = st.segmented_control(
        "Attention",
        offered,
        key=state.bind("site", None if state.current().common.site in offered else offered[0]),
        # What all three share is the label above them.
        format_func=lambda path: sites.label(path).removesuffix("-attention"),
        required=True,
        wrap=True,
        on_change=state.take,
        args=("site",),
    )
    return str(chosen)


def bertviz_view() -> str:
    """Which of bertviz's two views."""
    chosen = st.segmented_control(
        "View",
        BERTVIZ_VIEWS,
        key=state.bind("bertviz_view"),
        required=True,
        on_change=state.take,
        args=("bertviz_view",),
    )
    return str(chosen)


def layer(count: int) -> int:
    """Which layer, labelled from 1."""
    return _number("layer", "Layer", count)


def head(count: int, *, disabled: bool = False) -> int:
    """Which head, labelled from 1; disabled where what is shown has no head."""
    return _number("head", "Head", count, disabled=disabled)


def drawn() -> None:
    """How the open head is drawn."""
    one_of("drawn_as", "Drawn as", {name: name for name in DRAWN_AS})


def measure(offered: Sequence[str] = MEASURE_NAMES) -> None:
    """What the numbers of the open head are; one that is not offered becomes the first."""
    if state.current().common.measure not in offered:
        state.change(measure=offered[0])
    one_of("measure", "Numbers", {name: MEASURES[name].label for name in offered})


def switch(field: str, label: str, help_text: str) -> bool:
    """A choice of yes or no."""
    return st.toggle(label, key=state.bind(field), help=help_text, on_change=state.take, args=(field,))


def sentence(field: str, label: str) -> str:
    """A second sentence, on the page that needs one."""
    typed = st.text_input(label, key=state.bind(field), on_change=state.take, args=(field,))
    return typed or ""


def sentences(field: str, label: str) -> str:
    """Several sentences, one a line."""
    typed = st.text_area(
        label,
        key=state.bind(field),
        height=120,
        placeholder="One sentence a line",
        help="Ctrl + Enter, or a click elsewhere, reads them.",
        on_change=state.take,
        args=(field,),
    )
    return typed or ""


def side() -> str:
    """The source sentence or its translation."""
    labels = {"source": "Source", "target": "Translation"}
    chosen = st.segmented_control(
        "Side",
        SIDES,
        key=state.bind("side"),
        format_func=labels.__getitem__,
        required=True,
        on_change=state.take,
        args=("side",),
    )
    return str(chosen)


def token(field: str, label: str, labels: Sequence[str], *, default: int) -> int:
    """Which token of a sentence, by its position; `labels` say how each is listed."""
    chosen = st.selectbox(
        label,
        range(len(labels)),
        key=state.bind(field, state.position(field, len(labels), default)),
        format_func=lambda position: labels[position],
        on_change=state.take,
        args=(field,),
    )
    return int(chosen)


def slider(field: str, label: str, low: int, high: int) -> int:
    """A whole number from `low` to `high`; one beyond, from a link or another sentence, becomes the nearest."""
    value = min(max(state.value(field, int), low), high)
    state.change(**{field: value})
    chosen = st.slider(label, low, high, key=state.bind(field), on_change=state.take, args=(field,))
    return int(chosen)


def window(last: int, default: int) -> int:
    """How many positions are left out before those that are shown; by default so many."""
    chosen = state.current().attention.window_start
    value = min(max(default if chosen is None else chosen, 0), last)
    shown = st.slider(
        "Left out before the first line",
        0,
        last,
        key=state.bind("window_start", value),
        on_change=state.take,
        args=("window_start",),
    )
    return int(shown)


def width(own: int) -> int:
    """How many dimensions the formula is given, an even number; the model's own unless another is chosen."""
    most = max(MAX_WIDTH, own)
    value = min(max(state.current().masks_positions.width or own, 2), most) // 2 * 2
    state.change(width=0 if value == own else value)
    chosen = st.slider(
        f"d_model (this model: {own})",
        2,
        most,
        step=2,
        key=state.bind("width", value),
        on_change=_take_width,
        args=(own,),
    )
    return int(chosen)


def base(own: int) -> int:
    """The base of the formula's wavelengths, in steps of 1, 2, 5; another one becomes the nearest step."""
    chosen = state.current().masks_positions.base
    nearest = min(BASES, key=lambda step: abs(log(step / max(chosen, 1))))
    state.change(base=nearest)
    return int(
        st.select_slider(
            f"Base (this model: {own:,})",
            BASES,
            key=state.bind("base"),
            format_func=lambda step: f"{step:,}",
            on_change=state.take,
            args=("base",),
        )
    )


def seed() -> int:
    """Which draw of the example sentences, and a button for the next one."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.number_input(
            "Seed",
            min_value=0,
            max_value=MAX_SEED,
            step=1,
            key=state.bind("example_seed"),
            width=150,
            on_change=state.take,
            args=("example_seed",),
        )
        st.button("Another twenty", icon=":material/casino:", on_click=_next_seed)
    return int(chosen)


def figure(labels: Mapping[str, str]) -> str:
    """Which figure of a head its tile carries; "" is none."""
    chosen = st.selectbox(
        "Figure under each tile",
        list(labels),
        key=state.bind("metric"),
        format_func=labels.__getitem__,
        width=165,
        on_change=state.take,
        args=("metric",),
    )
    return str(chosen)


def order(*, disabled: bool) -> str:
    """In which order heads are shown; disabled, it is layer by layer."""
    labels = {"layers": "By layer", "highest": "Highest first", "lowest": "Lowest first"}
    chosen = st.selectbox(
        "Order",
        ORDERS,
        key=state.bind("order", ORDERS[0] if disabled else None),
        format_func=labels.__getitem__,
        width=140,
        disabled=disabled,
        on_change=state.take,
        args=("order",),
    )
    return str(chosen)


def keep(count: int, *, disabled: bool) -> int:
    """How many of `count` heads are shown, 0 for all; disabled, all are."""
    options = [0, *(number for number in (4, 8, 16) if number < count)]
    chosen = st.selectbox(
        "Heads",
        options,
        key=state.bind("max_heads", 0 if disabled or state.current().attention.max_heads not in options else None),
        format_func=lambda number: f"First {number}" if number else "All",
        width=110,
        disabled=disabled,
        on_change=state.take,
        args=("max_heads",),
    )
    return int(chosen)


def plain(text: str) -> str:
    """Text with every sign that Streamlit's Markdown reads taken literally: `![…](…)` must not fetch a picture."""
    return "".join(f"\\{c}" if c.isascii() and not (c.isalnum() or c.isspace()) else c for c in text)


def one_of(field: str, label: str, labels: Mapping[str, str]) -> None:
    """A choice of few, by their labels."""
    st.segmented_control(
        label,
        list(labels),
        key=state.bind(field),
        format_func=labels.__getitem__,
        required=True,
        on_change=state.take,
        args=(field,),
    )


def _number(field: str, label: str, count: int, *, disabled: bool = False) -> int:
    chosen = st.selectbox(
        label,
        range(count),
        key=state.bind(field),
        format_func=lambda number: str(number + 1),
        width=110,
        disabled=disabled,
        on_change=state.take,
        args=(field,),
    )
    return int(chosen)


def _take_width(own: int) -> None:
    chosen = st.session_state["width"]
    state.change(width=0 if chosen == own else chosen)


def _next_seed() -> None:
    state.change(example_seed=(state.current().model_card.example_seed + 1) % (MAX_SEED + 1))
