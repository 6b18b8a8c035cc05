"""Which heads are switched off: their short form in the address, and a grid of buttons to choose them.

Knows nothing of what switching them off does. Codes count from 0, as everything in the address: `c-3-1` is head 1 of
layer 3 of the decoder's cross-attention.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.core.sites import NAMES, SITES
from viz.selection import state
from viz.ui import controls

if TYPE_CHECKING:
    from model.analysis.metrics.head_names import HeadName

#: So many heads are named; of more, their number is told.
MOST_NAMED: Final = 12


def code(place: "HeadName") -> str:
    """The short form of a head."""
    return f"{NAMES[place.site].tag}-{place.layer}-{place.head}"


def name(place: "HeadName") -> str:
    """A head as people name it, counted from 1: "cross 4·2"."""
    return f"{NAMES[place.site].short} {place.layer + 1}·{place.head + 1}"


def names(places: Sequence["HeadName"]) -> str:
    """Several heads as people name them."""
    told = ", ".join(map(name, places[:MOST_NAMED]))
    return told if len(places) <= MOST_NAMED else f"{told} and {len(places) - MOST_NAMED} more"


def chosen(places: Iterable["HeadName"]) -> tuple["HeadName", ...]:
    """The heads of the model that the selection names, in the order of tables; names of others are passed over."""
    codes = set(state.current().coreference.heads_off)
    return tuple(place for place in places if code(place) in codes)


def grid(places: Sequence["HeadName"]) -> None:
    """Buttons for the heads of one attention, a row a layer, and one that lets go of all heads."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site = controls.site([site for site in SITES if any(place.site == site for place in places)])
        st.button(
            "Switch all on",
            key="off-none",
            disabled=not state.current().coreference.heads_off,
            on_click=state.change,
            kwargs={"heads_off": ()},
        )
    of_layer: dict[int, list[HeadName]] = {}
    for place in places:
        if place.site == site:
            of_layer.setdefault(place.layer, []).append(place)
    with st.grid(2, min_column_width=330):
        for layer, heads in of_layer.items():
            _pills(f"off-{NAMES[site].tag}-{layer}", f"Layer {layer + 1}: heads", heads)


def _pills(key: str, label: str, heads: "Sequence[HeadName]") -> None:
    codes = set(state.current().coreference.heads_off)
    st.session_state[key] = [head for head in heads if code(head) in codes]
    st.pills(
        label,
        heads,
        selection_mode="multi",
        key=key,
        format_func=lambda head: str(head.head + 1),
        on_change=_take,
        args=(key, heads),
    )


def _take(key: str, heads: Sequence["HeadName"]) -> None:
    kept = [one for one in state.current().coreference.heads_off if one not in set(map(code, heads))]
    state.change(heads_off=tuple(kept + [code(place) for place in st.session_state[key]]))
