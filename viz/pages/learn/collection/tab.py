"""The views that a person pinned, side by side: each with its picture, its caption and the way back to it."""

from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit as st

from viz.pages.learn.collection import data
from viz.pages.learn.collection.drawing import Card, page_bytes, page_file
from viz.pictures.payload import fingerprint
from viz.selection import catalogue, state, url
from viz.selection.selection import PAGES, Section
from viz.server.widgets import sent
from viz.text.messages import _, language, said, shown
from viz.ui import downloads, frame, long_work, present
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from viz.selection.selection import Selection
    from viz.selection.url import Pin


def show(head: "DeltaGenerator") -> None:
    """The pinned views, two beside one another, and the file that holds all of them."""
    kept = url.decode(state.current().learn.pins)
    message = "{num_kept} of at most {max_pins} views · the URL of this tab contains them all"
    head.markdown(_(message, num_kept=len(kept), max_pins=url.MAX_PINS))
    if not kept:
        frame.note(
            "Nothing is pinned yet. The pin at the top of every page keeps the view that is open: a head, all "
            "heads, a step of the film, a comparison. The pinned views appear here side by side."
        )
        return
    export = st.container()
    cards = []
    with st.grid(2, min_column_width=430, gap="medium"):
        for number, pin in enumerate(kept):
            with st.container(border=True, key=f"pin-{number}"):
                cards.append(_card(number, pin, kept))
    with export:
        inside = _("all views with their captions: one file that opens anywhere, offline")
        make, size = partial(page_file, cards, language()), page_bytes(cards)
        downloads.show_offer(_("HTML page"), inside, make, "headlight-collection.html", size)


def _card(number: int, pin: "Pin", kept: tuple["Pin", ...]) -> Card:
    """A view; what it is in the file."""
    view = _selection(pin)
    title = data.title(pin, view)
    heading = st.container()
    seen = None
    with frame.errors_shown(), st.skeleton(height=320):
        seen = long_work.awaited(data.task(pin, view), key=f"pin-{number}")
        title = seen.title
    heading.markdown(f"**{plain(title)}**")
    if seen is not None:
        seen.show(f"pin-picture-{number}")
    # Another view in this place has another field.
    key = f"pin-caption-{number}-{fingerprint(url.encode([pin]))}"
    st.session_state.setdefault(key, pin.caption)
    st.text_input(
        _("Caption"), key=key, placeholder=_("Add a caption"), max_chars=url.MAX_CAPTION,
        label_visibility="collapsed", on_change=_caption, args=(number, key),
    )  # fmt: skip
    with st.container(horizontal=True):
        st.button(
            _("Open"), key=f"pin-open-{number}", icon=":material/open_in_new:", on_click=_open, args=(view, pin.page)
        )
        for label, help_text, by in (
            (":material/arrow_back:", said("Move up"), -1),
            (":material/arrow_forward:", said("Move down"), 1),
        ):
            st.button(
                label, key=f"pin-{help_text}-{number}", help=_(help_text), disabled=not 0 <= number + by < len(kept),
                on_click=_move, args=(number, by),
            )  # fmt: skip
        st.button(
            ":material/delete:", key=f"pin-remove-{number}", help=_("Remove from the collection"), on_click=_remove,
            args=(number,),
        )  # fmt: skip
    return Card(shown(title), seen, pin.caption, f"/{PAGES[pin.page].address}?{urlencode(pin.params)}")


def _open(view: "Selection", page: Section) -> None:
    state.put(view.changed(pins=state.current().learn.pins))
    present.open_page(page)


def _selection(pin: "Pin") -> "Selection":
    """What is chosen in a view, with the folder of its model, if only this session has it."""
    view = pin.selection
    checkpoint = view.model.checkpoint
    known = checkpoint in catalogue.models()
    return view.changed(folder=catalogue.folder_of(checkpoint) if known else "")


def _caption(number: int, key: str) -> None:
    kept = list(_kept())
    caption = sent(key)
    if number < len(kept) and isinstance(caption, str):
        pin = kept[number]
        kept[number] = url.Pin(pin.page, pin.params, caption[: url.MAX_CAPTION])
        if url.fits(kept):
            _put(kept)
        else:
            st.toast(_("The URL has no room for such a long caption."))


def _move(number: int, by: int) -> None:
    kept = list(_kept())
    if 0 <= number < len(kept) and 0 <= number + by < len(kept):
        kept.insert(number + by, kept.pop(number))
        _put(kept)


def _remove(number: int) -> None:
    _put([pin for other, pin in enumerate(_kept()) if other != number])


def _kept() -> tuple["Pin", ...]:
    return url.decode(state.current().learn.pins)


def _put(kept: list["Pin"]) -> None:
    state.choose(pins=url.encode(kept))
