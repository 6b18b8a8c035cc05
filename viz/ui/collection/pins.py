"""The pinned views, listed in the head of every page: pin, caption, put in order, open, present, export."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.pictures.payload import fingerprint
from viz.selection import catalogue, state, url
from viz.selection.selection import SECTIONS
from viz.server.widgets import sent
from viz.text.messages import _, said
from viz.text.written import head_label
from viz.ui import downloads, present, terms
from viz.ui.controls import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viz.selection.selection import Selection
    from viz.selection.url import Pin

#: Characters of a sentence by which a view is told from others.
_LONGEST_TEXT: Final = 70


def menu() -> None:
    """The button that opens the list, and while it is open the pinned views."""
    opened = st.popover(_("Pins"), icon=":material/keep:", **state.bound("collection", always=False))
    if opened.open:
        with opened.container(width=downloads.WIDTH):
            _show(url.decode(state.current().common.pins))


def _show(kept: "Sequence[Pin]") -> None:
    _pin_button(kept)
    if not kept:
        terms.caption(
            _("Pin views of any page to list them here, to present them one after another, or to export them.")
        )
        return
    for number, pin in enumerate(kept):
        _row(number, pin, kept)
    message = (
        "{num_kept} of at most {max_pins} views. While this list is open, the URL contains all views with their "
        "captions and notes: copy it with the link button next to this list."
    )
    terms.caption(_(message, num_kept=len(kept), max_pins=url.MAX_PINS))
    with st.container(horizontal=True):
        st.button(
            _("Present these views"), key="pins-present", icon=":material/present_to_all:", on_click=present.switch,
            args=(True,),
        )  # fmt: skip
        inside = _("all views with their captions: one file that opens anywhere, offline")
        # With the folder of a model that only this session has.
        views = [
            (pin, pin.selection.changed(folder=catalogue.folder_of(pin.selection.model.checkpoint))) for pin in kept
        ]
        downloads.show_offer(_("HTML page"), inside, partial(_page_file, views), "headlight-collection.html")


def _pin_button(kept: "Sequence[Pin]") -> None:
    """What pins the view that is open, or takes it out of the collection; else why that cannot be."""
    if downloads.link_needs(state.current())[1]:
        terms.caption(_("This view cannot be pinned: the text is too long for a URL, or it shows your own picture."))
        return
    view, others = _others(kept)
    if len(others) < len(kept):
        st.button(_("Unpin this view"), key="pin-view", icon=":material/keep_off:", on_click=_pin)
        return
    has_room = url.fits((*kept, view))
    label = _("Pin this view")
    st.button(label, key="pin-view", icon=":material/keep:", type="primary", disabled=not has_room, on_click=_pin)
    if not has_room:
        message = "The collection is full: it can contain {max_pins} views, or as many as fit into one URL."
        terms.caption(_(message, max_pins=url.MAX_PINS))


def _others(kept: "Sequence[Pin]") -> "tuple[Pin, list[Pin]]":
    """The view that is open, and those of the collection that are others.

    A head or a step that a page only proposed is part of the view where it is what is seen.
    """
    selection, page = state.current(), SECTIONS[state.page()]
    if page in ("decoding", "coreference"):
        selection = selection.changed(step=selection.common.step, head=selection.common.head)
    view = url.pin_of(selection, page, downloads.link_needs(selection)[0])
    return view, [pin for pin in kept if (pin.page, pin.params) != (view.page, view.params)]


def _pin() -> None:
    """Keep the view that is open; one that is kept already goes."""
    kept = _kept()
    view, others = _others(kept)
    _put(others if len(others) < len(kept) else [*kept, view])


def _row(number: int, pin: "Pin", kept: "Sequence[Pin]") -> None:
    """A view: what it is, its caption, and what can be done with it."""
    view = pin.selection
    common = view.common
    name = plain(pin.title) + (f" · {head_label(common.layer, common.head)}" if common.head_chosen else "")
    with st.container(key=f"pin-{number}", gap="xsmall", border=True):
        with st.container(horizontal=True, vertical_alignment="center", gap=None):
            st.markdown(f"**{name}**  \n{plain(' '.join(common.text.split())[:_LONGEST_TEXT])}", width="stretch")
            for icon, help_text, act, arguments, is_possible in (
                (":material/open_in_new:", said("Open"), _open, (pin,), True),
                (":material/arrow_upward:", said("Move up"), _move, (number, -1), number > 0),
                (":material/arrow_downward:", said("Move down"), _move, (number, 1), number < len(kept) - 1),
                (":material/delete:", said("Remove from the collection"), _remove, (number,), True),
            ):
                st.button(
                    icon, key=f"pin-{help_text}-{number}", help=_(help_text), type="tertiary",
                    disabled=not is_possible, on_click=act, args=arguments,
                )  # fmt: skip
        for field, label, placeholder, longest in (
            ("caption", said("Caption"), said("Add a caption"), url.MAX_CAPTION),
            ("note", said("Note"), said("Add a note for the presenter's window"), url.MAX_NOTE),
        ):
            # Another view in this place has another field; the same one keeps it while the other field is saved.
            key = f"pin-{field}-{number}-{fingerprint(url.encode([replace(pin, caption='', note='')]))}"
            # As it is kept: after Undo, and where what was typed has no room.
            if st.session_state.get(key) != getattr(pin, field):
                st.session_state[key] = getattr(pin, field)
            st.text_input(
                _(label), key=key, placeholder=_(placeholder), max_chars=longest, label_visibility="collapsed",
                on_change=_write, args=(number, key, field),
            )  # fmt: skip


def _page_file(views: "Sequence[tuple[Pin, Selection]]") -> bytes:
    # What computes pictures is needed by who asks for the file only.
    from viz.ui.collection.page_file import page_file

    return page_file(views)


def _open(pin: "Pin") -> None:
    """Open a view on its page; the list closes."""
    state.change(collection=False)
    present.open_pin(pin)


def _write(number: int, key: str, field: str) -> None:
    """Keep the caption or the note of a view as it was typed."""
    kept = _kept()
    typed = sent(key)
    if number < len(kept) and isinstance(typed, str):
        pin = kept[number]
        kept[number] = replace(pin, caption=typed) if field == "caption" else replace(pin, note=typed)
        if url.fits(kept):
            _put(kept)
        else:
            message = (
                "Not saved: with this text the URL would be {excess:,} characters too long. Shorten it, or another "
                "caption or note."
            )
            st.toast(_(message, excess=url.excess(kept)))


def _move(number: int, by: int) -> None:
    kept = _kept()
    if number < len(kept) and 0 <= number + by < len(kept):
        kept.insert(number + by, kept.pop(number))
        _put(kept)


def _remove(number: int) -> None:
    _put([pin for other, pin in enumerate(_kept()) if other != number])


def _kept() -> "list[Pin]":
    return list(url.decode(state.current().common.pins))


def _put(kept: "Sequence[Pin]") -> None:
    state.choose(pins=url.encode(kept))
