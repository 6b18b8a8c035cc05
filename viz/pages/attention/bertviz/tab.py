"""bertviz's own views of the sentence."""

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import streamlit as st

from viz.selection import state
from viz.text import messages, sites
from viz.text.messages import _, said
from viz.ui import controls, frame

if TYPE_CHECKING:
    from model import Trace

_HOW_TO_READ: Final = {
    "Head view": said(
        "A line leads from a token on the left to one it attends to; its strength is the weight, its colour the head. "
        "Point at a token to see its lines alone; click a coloured square to switch a head off or on, double-click it "
        "to see only that head."
    ),
    "Model view": said(
        "One small picture is one head, one colour a layer; lines lead from the tokens on the left to those on the "
        "right, first token on top. Click a head to see it large, with its tokens."
    ),
}
_WHY_SO_SHORT: Final = said(
    "In a narrow window the view scrolls sideways. By keyboard: Tab, arrow keys, Enter. Offered up to 64 tokens, "
    "because bertviz draws every weight as a line: at 64 it takes several seconds to appear, at 256 the better part of "
    "a minute, in which the browser answers nothing."
)


@frame.fragment
def show(trace: "Trace") -> None:
    """bertviz's head view or model view of one attention."""
    # bertviz brings IPython with it; most visits never open this tab.
    from viz.pages.attention.bertviz.view import bertviz_height, bertviz_page, missing_packages

    if missing := missing_packages():
        frame.note(
            _(
                "This tab needs {missing}: run `pip install -r requirements.txt` where Headlight runs, and start it "
                "anew. All heads, and the lines of an opened head, show the same weights without it.",
                missing=messages.with_and(missing),
            )
        )
        return
    with st.container(horizontal=True):
        site = controls.site(trace.sites)
        view = controls.bertviz_view()
    # A layer of another attention may be missing in this one.
    layer = min(state.current().common.layer, len(trace.inputs[site]) - 1)
    st.iframe(
        bertviz_page(trace, site, view, layer=layer, dark=st.context.theme.type == "dark"),
        height=bertviz_height(trace, site, view),
        alt=_("bertviz's {view}: {label}", view=_(view).lower(), label=sites.label(site)),
    )
    _forget_addresses()
    st.caption(messages.in_a_row((_HOW_TO_READ[view], _WHY_SO_SHORT)))


def _forget_addresses() -> None:
    """Empty the standard library's cache of addresses: `st.iframe` asks it whether a page of 350 kB is one.

    It would keep 128 such pages.
    """
    if forget := getattr(urlsplit, "cache_clear", None):
        forget()
