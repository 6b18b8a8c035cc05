"""The address of the view that is shown, as a QR code, for those who sit before a projector.

Python knows the address as it writes it, so the browser is asked nothing. What a component sent unasked, Streamlit 1.67
would put into one message with what a person clicks at that moment, and then draw the component's fragment alone.
"""

import re
from functools import lru_cache
from typing import Final
from urllib.parse import urlencode, urlsplit

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.selection import state
from viz.selection.url import to_params
from viz.text.html import literal
from viz.text.messages import _, said

#: Of a longer address the modules would be too small to be read from a screen.
MAX_LENGTH: Final = 500
_LOCAL: Final = re.compile(r"localhost|127(\.\d+){3}|::1")
_HOW_TO_OPEN: Final = said(
    "Headlight listens on 127.0.0.1. To let others open it, start it with --server.address=0.0.0.0 and this "
    "machine's name or address in server.allowedHosts, and open it by that name."
)
_ROOM: Final = "address-code/room"


@lru_cache(maxsize=64)
def picture(address: str) -> str:
    """The code of an address, as the address of a picture; "" if it would be too fine to read."""
    if not 0 < len(address) <= MAX_LENGTH:
        return ""
    # Needed by who presents only.
    import segno

    # On paper of its own in both themes: readers look for dark on light.
    uri: str = segno.make(address, micro=False, error="l").svg_data_uri(dark="#000", light="#fff", omitsize=True)
    return uri


def for_visitors(page: str) -> str:
    """The address of the selection on this page, without what only a presentation needs.

    Nor with the collection, which would make the code of any other page too fine, or an answer: they give their own.
    """
    params = to_params(state.current().changed(presented="", screen=0, story=0, pins="", answer=0))
    page = page if urlsplit(page).path else f"{page}/"
    return f"{page}?{urlencode(params)}" if params else page


def place() -> None:
    """Keep room for the code here, and show it as far as the run knows the view yet."""
    st.session_state[_ROOM] = st.container(key="address-code").empty()
    draw()


def draw() -> None:
    """Show the code in its room, if there is one: to be called whenever the address was written."""
    room: DeltaGenerator | None = st.session_state.get(_ROOM)
    page = st.context.url
    if room is None or page is None:
        return
    address = for_visitors(page)
    is_local = _LOCAL.fullmatch(urlsplit(address).hostname or "")
    code = "" if is_local else picture(address)
    too_long = "" if code else _("The URL is too long for a code.")
    caution = _("The URL opens only on this computer.") if is_local else too_long
    label = literal(_("QR code of this view's URL: {address}", address=address))
    shown = f'<img src="{literal(code)}" alt="{label}">' if code else ""
    room.html(f'{shown}<span title="{literal(_HOW_TO_OPEN) if is_local else ""}">{literal(caution)}</span>')


def forget() -> None:
    """A page that is not presented has no room for it."""
    st.session_state.pop(_ROOM, None)
