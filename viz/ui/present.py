"""What can be done with any view: undo, redo; present it on a projector, its address as a QR code.

A page is presented large, one picture a screen, next and back by the keys of a clicker. It asks `is_on` what to leave
out, and says by `steps` or `screens` which it has. A picture that arrow keys move already, as a film's, needs neither.
With a collection open, the keys go from one of its views to the next instead, whichever page has it.
Styles are in `present.css`: what a component shows on the page alone, it hides by the property `--in-page`, and no
picture is higher than `--picture-height`.

Python knows the address as it writes it, so the browser is asked nothing. What a component sent unasked, Streamlit 1.67
would put into one message with what a person clicks at that moment, and then draw the component's fragment alone.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlencode, urlsplit

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.pictures.page_tools import AskedPlace, HeadPlace, head_tools, present_steps
from viz.selection import catalogue, state, url
from viz.selection.choices import ALL_HEADS, WHY
from viz.selection.history import WAYS
from viz.selection.selection import PAGES, SECTIONS, Section
from viz.selection.url import to_params
from viz.server.opening_page.first_picture import STORY_CLOSED, STORY_COOKIE
from viz.text.html import literal
from viz.text.messages import _, said

if TYPE_CHECKING:
    from plotly.graph_objects import Figure
    from streamlit.navigation.page import StreamlitPage

#: Pixels of the smallest letters of a chart, on a page that is laid out for 540 pixels of height (`present.css`).
SMALLEST_LETTERS: Final = 12
#: What a chart may take of that height, and what one may that is the picture of its page.
CHART_HEIGHT: Final = 220
PICTURE_HEIGHT: Final = 430
#: The picture of a page is at most so many times as high as elsewhere if its bars lie across.
GROWTH: Final = 1.5


def is_on() -> bool:
    """Whether a projector shows the page."""
    return state.current().common.presented == "1"


def switch(is_presented: bool) -> None:
    """Begin or end it."""
    state.choose(presented="1" if is_presented else "")
    if not is_presented:
        state.change(collection=False, pin=0)
        st.session_state.pop(_SCREENS, None)


class _Walked(NamedTuple):
    """One screen of those through which a presentation of a collection goes."""

    number: int  #: of its view, counted from 1
    pin: url.Pin
    screen: int


#: In the session: of pins whose page has said it, how many screens they have.
_SCREENS: Final = "present/screens"


def _walked() -> tuple[_Walked, ...]:
    """The screens of the views of the collection that is open."""
    common = state.current().common
    pins = url.decode(common.pins) if is_on() and common.collection else ()
    return tuple(
        _Walked(number, pin, screen) for number, pin in enumerate(pins, start=1) for screen in range(_count(pin))
    )


def _count(pin: url.Pin) -> int:
    """The screens of a view: as many as its page has said, else one, and one for a trail in Why."""
    known: Mapping[url.Pin, int] = st.session_state.get(_SCREENS, {})
    return known.get(pin, 1 + bool(pin.selection.attention.trail))


def open_pin(pin: url.Pin, number: int = 0, screen: int = 0) -> None:
    """Open a view of the collection; `number`: which one of those that are presented, counted from 1."""
    kept = {name: state.current().value(name) for name in (*WAYS, "pins")}
    state.put(pin.selection.changed(**kept | {"screen": screen, "pin": number}))
    state.want_page(PAGES[pin.page].address)


def _at(screens: Sequence[_Walked]) -> int:
    """Which of them is shown."""
    common = state.current().common
    return bisect_right(screens, (common.pin, common.screen), key=lambda shown: (shown.number, shown.screen)) - 1


def _walk(screens: Sequence[_Walked]) -> None:
    """The bar that goes from one view of the collection to the next, with the caption of the one that is shown."""
    at = _at(screens)
    pins = [shown.pin for shown in screens]

    def go(step: int) -> None:
        number, pin, screen = screens[step]
        open_pin(pin, number, screen)

    with st.container(key="present-bar", horizontal=True, vertical_alignment="center"):
        names = [pin.caption or pin.title for pin in pins]
        present_steps(at, len(pins), names=names, notes=[pin.note for pin in pins], on_step=go)
        st.html(f'<span dir="auto">{literal(pins[at].caption)}</span>')


def steps(count: int, field: str, first: int = 0, *, in_pin: bool = False) -> int:
    """Where the presentation of a page stands, as a value of `field`, by which an address says it.

    While one is on, keys and buttons move it from `first`, over `count` steps; with `in_pin` those of a collection too.
    """
    chosen = min(max(state.value(field, int), first), first + count - 1)
    walked = _walked()
    if walked and in_pin:
        pin = walked[_at(walked)].pin
        if PAGES[pin.page].address == state.page() and _count(pin) != count:
            st.session_state.setdefault(_SCREENS, {})[pin] = count
            # The bar is above, and has been drawn.
            st.rerun()
    if is_on() and not walked:
        with st.container(key="present-bar"):
            present_steps(chosen - first, count, on_step=lambda step: state.choose(**{field: first + step}))
    return chosen


def screens(*draws: Callable[[], object]) -> None:
    """Draw what a page has, one below the other; presented, each is a screen, of a pin of the page too."""
    if is_on():
        draws = (draws[steps(len(draws), "screen", in_pin=True)],)
    for draw in draws:
        draw()


def enlarged(figure: "Figure", most: int = CHART_HEIGHT) -> "Figure":
    """A chart of plotly with letters and height for a projector, whose page is as large as the screen.

    It is not higher than `most`, except for the name of every bar.
    """
    spec = _with_large_letters(figure.to_dict())
    larger = type(figure)(spec)
    for axes in (larger.select_xaxes(), larger.select_yaxes()):
        for axis in axes:
            # Each keeps its colour: Streamlit's own for axes is too pale.
            for font in (axis.tickfont, axis.title.font):
                font.size = font.size or SMALLEST_LETTERS
            if axis.type == "log":
                # Between its powers of ten plotly writes smaller digits.
                axis.update(dtick=1, exponentformat="SI")
            elif axis.exponentformat == "power":
                # The digits of an exponent would be smaller.
                axis.exponentformat = "e"
    has_bars = any(larger.select_traces({"type": "bar", "orientation": "h"}))
    height = min(round((figure.layout.height or most) * (GROWTH if has_bars and most > CHART_HEIGHT else 1)), most)
    rows = [
        (axis, SMALLEST_LETTERS * len(axis.tickvals or ()) / (axis.domain[1] - axis.domain[0] if axis.domain else 1))
        for axis in larger.select_yaxes()
    ]
    if has_bars:
        height = max(height, *(math.ceil(needed) for _axis, needed in rows))
    for axis, needed in rows:
        # Names of many rows would lie over one another.
        every = math.ceil(needed / height)
        if every > 1 and axis.ticktext:
            axis.update(tickvals=axis.tickvals[::every], ticktext=axis.ticktext[::every])
        if needed * len(larger.data) > height:
            # So would numbers at bars that are thinner than they.
            larger.for_each_trace(lambda bars: bars.update(textposition="none"), {"textposition": "outside"})
    # What is written into a bar would be made as small as it.
    written = {"minsize": SMALLEST_LETTERS, "mode": "hide"}
    larger.update_layout(height=height, font_size=SMALLEST_LETTERS, uniformtext=written)
    return larger


def _with_large_letters(spec: Any) -> Any:
    """The same nested settings of plotly without smaller letters."""
    if isinstance(spec, Mapping):
        larger = {name: _with_large_letters(part) for name, part in spec.items()}
        return {
            name: part | {"size": max(SMALLEST_LETTERS, part["size"])}
            if name.endswith("font") and isinstance(part, dict) and isinstance(part.get("size"), (int, float))
            else part
            for name, part in larger.items()
        }
    if isinstance(spec, (list, tuple)):
        return [_with_large_letters(part) for part in spec]
    return spec


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

    Nor with the collection, which would make the code of any page too fine, or an answer: they give their own.
    """
    view = state.current().changed(presented="", screen=0, story=0, collection=False, pin=0, answer=0)
    params = to_params(view, SECTIONS[state.page()])
    page = page if urlsplit(page).path else f"{page}/"
    return f"{page}?{urlencode(params)}" if params else page


def place() -> None:
    """Keep room for the code here, and show it as far as the run knows the view yet; and the bar of the collection."""
    if screens := _walked():
        _walk(screens)
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
    too_long = "" if code else _("The URL is too long for a QR code.")
    caution = _("The URL opens only on this computer.") if is_local else too_long
    label = literal(_("QR code of this view's URL: {address}", address=address))
    shown = f'<img src="{literal(code)}" alt="{label}">' if code else ""
    room.html(f'{shown}<span title="{literal(_HOW_TO_OPEN) if is_local else ""}">{literal(caution)}</span>')


def forget() -> None:
    """A page that is not presented has no room for it."""
    st.session_state.pop(_ROOM, None)


#: In the session: whether it has begun, and whether a person asks for the story.
_BEGUN, _ASKED = "story/begun", "story/asked"


def show() -> None:
    """The buttons."""
    head_tools(
        is_presented=is_on(),
        on_undo=_undo,
        can_redo=state.can_redo(),
        on_present=switch,
        on_story=_ask_for_story,
        on_head=_open_head,
        on_why=ask_why,
    )


def begin_story(opened: "StreamlitPage") -> bool:
    """Open the story “Start here” for who opens the first page, gave no model, and has not closed it for good.

    Returns whether a session begins with the first page.
    """
    is_begun, st.session_state[_BEGUN] = st.session_state.get(_BEGUN, False), True
    is_first_page = not opened.url_path and st.query_params.keys() <= {"lang"}
    # Without an address there is no browser, as in tests.
    begins = not is_begun and is_first_page and st.context.url is not None
    if begins and not catalogue.given_first() and st.context.cookies.get(STORY_COOKIE) != STORY_CLOSED:
        state.change(story=1)
    return begins


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


def ask_why(asked: AskedPlace, texts: tuple[str, str] | None = None) -> None:
    """Ask why a head looks where it looks: in the cell that is named, else in one that the page begins with.

    `texts`: of a text and its twin, where these may not be those that the page reads.
    """
    if texts is not None:
        state.choose(text=texts[0])
        state.change(other_text=texts[1], without_twin=False)
    common = state.current().common
    if (common.token, common.key_token) != (asked.row, asked.key):
        # The words that were chosen are those of another cell.
        state.change(from_words=(), to_words=())
    # Chosen, so that the page shows this head and not its own finding; another attention resets the cell.
    state.change(site=asked.site, layer=asked.layer, head=asked.head, head_chosen=True)
    state.change(attention_tab=WHY, token=asked.row, key_token=asked.key, trail=(), rival_key=None)
    open_page("attention")


def open_page(section: Section) -> None:
    """Open a page: called at the end of a callback, whose choices are then seen there."""
    state.want_page(PAGES[section].address)
    st.rerun()


def why_divided(key: str) -> None:
    """A button that opens the lesson step on the division by √dₖ, so that other places need not explain it."""
    st.button(
        _("Why are scores divided by √dₖ? (Lessons)"),
        key=f"{key}-why-divided",
        icon=":material/open_in_new:",
        type="tertiary",
        on_click=open_explore,
        args=("scores",),
    )


def open_explore(topic: str) -> None:
    """Open Explore of a topic below the step where it is at home."""
    lesson, step = url.EXPLORED[topic]
    state.change(learn_tab="Lessons", lesson=lesson, lesson_step=step, answer=0, explore=True)
    open_page("learn")


def follow(pages: "Iterable[StreamlitPage]", opened: "StreamlitPage") -> None:
    """Open the page that is wanted: by `open_page`, or that of a choice that was undone or done again.

    Where a presentation of the collection begins, that is the page of its first view.
    """
    if (screens := _walked()) and not state.current().common.pin:
        open_pin(screens[0].pin, 1)
    wanted = state.page_wanted(opened.url_path)
    for page in pages:
        if page.url_path == wanted:
            st.switch_page(page)


def _undo(by: int) -> None:
    if not state.undo(by):
        st.toast(_("Nothing to undo.") if by > 0 else _("Nothing to redo."))
