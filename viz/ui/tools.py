"""Offer, in the head of every page, what can be done with any view: undo, redo, pin, present; and a story to start."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.pictures.page_tools import HeadPlace, head_tools
from viz.selection import state, url
from viz.selection.choices import ALL_HEADS
from viz.selection.selection import PAGES, SECTIONS, Section
from viz.text.messages import _
from viz.ui import downloads, present

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

#: The browser's cookie that says whether a person has closed the story “Start here”, and its value then.
STORY_COOKIE: Final = "headlight_story"
STORY_CLOSED: Final = "closed"
#: In the session: whether it has begun, and whether a person asks for the story.
_BEGUN, _ASKED = "story/begun", "story/asked"


def show() -> None:
    """The buttons."""
    head_tools(
        is_presented=present.is_on(),
        is_pinned=_is_pinned(),
        on_undo=_undo,
        on_pin=_pin,
        has_story=state.current().common.story > 0,
        on_present=present.switch,
        on_story=_ask_for_story,
        on_head=_open_head,
    )


def begin_story(opened: "StreamlitPage") -> None:
    """Open the story “Start here” for who opens the first page itself, and has not closed the story for good."""
    is_begun, st.session_state[_BEGUN] = st.session_state.get(_BEGUN, False), True
    is_first_page = not opened.url_path and st.query_params.keys() <= {"lang"}
    # Without an address there is no browser, as in tests.
    if is_begun or not is_first_page or st.context.url is None:
        return
    if st.context.cookies.get(STORY_COOKIE) != STORY_CLOSED:
        state.change(story=1)


def asks_for_story() -> bool:
    """Whether a person has just pressed the button of the story; once."""
    return bool(st.session_state.pop(_ASKED, False))


def _ask_for_story() -> None:
    st.session_state[_ASKED] = True
    state.change(story=1)


def _open_head(head: HeadPlace) -> None:
    """Open the head of a link on the Attention page; where the model has no such head, the page shows the nearest."""
    state.change(attention_tab=ALL_HEADS, token=None, key_token=None)
    # Chosen, so that the page shows this head and not its own finding.
    state.change(site=head.site, layer=head.layer, head=head.head, head_chosen=True)
    open_page("attention")


def open_page(section: Section) -> None:
    """Open a page: called at the end of a callback, whose choices are then seen there."""
    state.want_page(PAGES[section].address)
    st.rerun()


def why_divided(key: str) -> None:
    """The way to the tab that says what the division by √dₖ is for, which others need not say again."""
    st.button(
        _("Why scores are divided by √dₖ: Scores"),
        key=f"{key}-why-divided",
        icon=":material/open_in_new:",
        type="tertiary",
        on_click=_open_scores,
    )


def _open_scores() -> None:
    state.change(paper_tab="Scores")
    open_page("paper")


def follow(pages: "Iterable[StreamlitPage]", opened: "StreamlitPage") -> None:
    """Open the page that is wanted: by `open_page`, or that of a choice that was undone or done again."""
    wanted = state.page_wanted(opened.url_path)
    for page in pages:
        if page.url_path == wanted:
            st.switch_page(page)


def _undo(by: int) -> None:
    if not state.undo(by):
        st.toast(_("Nothing to undo.") if by > 0 else _("Nothing to redo."))


def _view() -> url.Pin:
    """The view that is open; a head or a step that a page only proposed is part of it where it is what is seen."""
    selection, page = state.current(), SECTIONS[state.page()]
    if page in ("decoding", "coreference"):
        selection = selection.changed(step=selection.common.step, head=selection.common.head)
    return url.pin_of(selection, page, downloads.link_needs(selection)[0])


def _can_be_pinned() -> bool:
    """Whether an address can carry all that is seen."""
    return not downloads.link_needs(state.current())[1]


def _is_pinned() -> bool:
    if not _can_be_pinned():
        return False
    view = _view()
    kept = url.decode(state.current().learn.pins)
    return any((pin.page, pin.params) == (view.page, view.params) for pin in kept)


def _pin() -> None:
    """Keep the view; what is kept already goes."""
    if not _can_be_pinned():
        st.toast(_("This view cannot be pinned: the text is too long for a URL, or it shows your own picture."))
        return
    kept, view = url.decode(state.current().learn.pins), _view()
    others = tuple(pin for pin in kept if (pin.page, pin.params) != (view.page, view.params))
    if len(others) < len(kept):
        state.choose(pins=url.encode(others))
        st.toast(_("This view is no longer in the collection."))
    elif url.fits((*kept, view)):
        state.choose(pins=url.encode((*kept, view)))
        st.toast(_("Pinned: {num_kept} in the collection, on the page Learn.", num_kept=len(kept) + 1))
    else:
        message = "The collection is full: it can contain {max_pins} views, or as many as fit into one URL."
        st.toast(_(message, max_pins=url.MAX_PINS))
