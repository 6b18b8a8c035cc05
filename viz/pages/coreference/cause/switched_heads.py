"""Name the heads that are switched off, and choose them in a grid of buttons.

Codes of the address count from 0: `c-3-1` is head 1 of layer 3 of the decoder's cross-attention.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.selection import state
from viz.server.widgets import sent
from viz.text.messages import _, with_commas
from viz.text.sites import NAMES, SITES, head_label
from viz.ui import controls

if TYPE_CHECKING:
    from model.analysis.metrics.head_names import HeadName

#: How many heads are named; of more, their number is given.
MOST_NAMED: Final = 12


def code(head: "HeadName") -> str:
    """The short form of a head."""
    return f"{NAMES[head.site].tag}-{head.layer}-{head.head}"


def name(head: "HeadName") -> str:
    """A head as people name it, counted from 1: "cross L4 H2"."""
    return head_label(head.layer, head.head, head.site)


def names(heads: Sequence["HeadName"]) -> str:
    """Several heads as people name them."""
    listed, more = with_commas(map(name, heads[:MOST_NAMED])), len(heads) - MOST_NAMED
    return _("{heads} and {count} more", heads=listed, count=more) if more > 0 else listed


def chosen(heads: Iterable["HeadName"]) -> tuple["HeadName", ...]:
    """The heads of the model that the selection names, in the order of tables; names of others are ignored."""
    codes = set(state.current().coreference.heads_off)
    return tuple(head for head in heads if code(head) in codes)


def grid(heads: Sequence["HeadName"]) -> None:
    """Buttons for the heads of one attention, a row a layer, and one that switches all on."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site = controls.site([site for site in SITES if any(head.site == site for head in heads)])
        st.button(
            _("Switch all on"),
            key="off-none",
            disabled=not state.current().coreference.heads_off,
            on_click=state.change,
            kwargs={"heads_off": ()},
        )
    of_layer: dict[int, list[HeadName]] = {}
    for head in heads:
        if head.site == site:
            of_layer.setdefault(head.layer, []).append(head)
    with st.grid(2, min_column_width=330):
        for layer, row in of_layer.items():
            _pills(f"off-{NAMES[site].tag}-{layer}", _("Layer {layer}: heads", layer=layer + 1), row)


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
    chosen = sent(key)
    if isinstance(chosen, list) and set(chosen) <= set(heads):
        kept = [off for off in state.current().coreference.heads_off if off not in set(map(code, heads))]
        state.change(heads_off=tuple(kept + [code(head) for head in chosen]))
