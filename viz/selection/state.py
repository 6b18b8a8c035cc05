"""Hold the selection of a session: read it from the address, bind widgets to it, and write it back into the address.

    address ──parse──▶ Selection ──▶ widgets (given their values before they are drawn)
       ▲                  │ ▲
       └─────publish──────┘ └────take──── a person changed a widget

The `Selection` is what holds; a widget only shows one of its fields and hands back a change through `take`. So a choice
survives a change of page, a link opens the same view again, and a wrong value in a link becomes the default.

What a person chose is kept choice by choice (`viz.selection.history`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.util import calc_hash

from viz.selection import catalogue, notices, url
from viz.selection.history import WAYS, History, changed_fields, chosen_values, remembered
from viz.selection.selection import FIELDS, PAGES, SECTIONS, Section, Selection
from viz.selection.url import choices, parse, to_params
from viz.server.widgets import is_in_browser, sent
from viz.text import messages

Value = TypeVar("Value")

_SELECTION: Final = "selection"
#: How many runs there were, the last that came to its end, and which run of which page bound a field last.
_RUN, _ENDED, _BOUND = "selection/run", "selection/ended", "selection/bound"
_MISSING: Final = "selection/missing-model"
_PAGE: Final = "selection/page"
#: What was chosen, whether a page was just opened, which it is, and the sentences.
_PAST, _OPENED, _AT = "history", "history/opened", "history/page"
#: The parameters of an address that was just read.
_ASKED: Final = "selection/asked"
_SENTENCES: Final = "history/sentences"


@dataclass(slots=True)
class _Past:
    """What was chosen, in one object that a session keeps: a change of it is never cut in two.

    Streamlit may end a run at any use of `st.session_state`.
    """

    history: History | None = None  #: the choices; None before the first run has come to its end
    begun: Selection | None = None  #: what held when the last run began, if it has not come to its end
    wanted: str | None = None  #: the page that an undo, or a button, leads to


def _as_sent(value: object) -> object:
    return value


def begin(checkpoints: Sequence[str]) -> None:
    """Read the selection from a new address, at the start of a run; a checkpoint not listed becomes the first.

    An address that says nothing opens the first model with which the app was started.

    An address is new when a session begins and when the browser goes back or forward. In every other run it is what
    `publish` wrote, or lags behind it: clicks that follow fast bring the address of the run before with them.
    """
    st.session_state[_RUN] = st.session_state.get(_RUN, 0) + 1
    selection: Selection | None = st.session_state.get(_SELECTION)
    context = get_script_run_ctx()
    is_led = context is not None and context.is_history_navigation
    params: dict[str, str] | None = None
    if selection is None or is_led:
        params = st.query_params.to_dict()
        st.session_state[_ASKED] = params
        selection = parse(params, selection or Selection(), _section())
        notices.asked(params, selection)
    checkpoint = selection.model.checkpoint
    if checkpoint and checkpoint not in checkpoints:
        st.session_state[_MISSING] = checkpoint
        checkpoint = ""
    if params is not None and params.keys() <= {"lang"}:
        checkpoint = catalogue.given_first()
    if not checkpoint and checkpoints and not catalogue.server_models():
        # Without a name it is the server's first; where there is none, what the list shows first must be named.
        checkpoint = checkpoints[0]
    if selection.common.language not in messages.languages():
        selection = selection.changed(language="")
    put(selection.changed(checkpoint=checkpoint))
    notices.begin(_view())
    past = _past()
    if past.begun is not None:
        _note_cut_short(past.begun)
    past.begun = current()
    if is_led and past.history is not None:
        past.history = past.history.led_to(current(), _section())
    messages.speak(language())


def _view() -> Mapping[str, object]:
    """What a person has chosen, and the page on which they are."""
    return {**chosen_values(current()), "": _section()}


def _section() -> Section:
    """The page that this run opens; that of an old address is not open yet, and reads as the first one."""
    context = get_script_run_ctx()
    page = "" if context is None else context.page_script_hash
    return next((section for address, section in SECTIONS.items() if calc_hash(address) == page), "attention")


def language() -> str:
    """The code of the language that this session reads: the one chosen, else the nearest to the browser's."""
    return current().common.language or messages.nearest(st.context.locale)


def take_missing() -> str:
    """The model that the address asked for and that is not on the list, once; "" if there was none."""
    return str(st.session_state.pop(_MISSING, ""))


def current() -> Selection:
    """The selection of this session."""
    selection: Selection = st.session_state[_SELECTION]
    return selection


def value(field: str, kind: type[Value]) -> Value:
    """The value of a field that is known by its name only, which is of this type."""
    chosen = current().value(field)
    assert isinstance(chosen, kind), f"{field} is {chosen!r}, not of {kind}"
    return chosen


def put(selection: Selection) -> None:
    """Make this the selection, before the widgets that show it are drawn."""
    checkpoint = selection.model.checkpoint
    folder = catalogue.folder_of(checkpoint) if checkpoint else ""
    st.session_state[_SELECTION] = selection.changed(folder=folder)


def change(**values: object) -> None:
    """Change these fields of the selection, and leave the others."""
    put(current().changed(**values))


def correct(**values: object) -> None:
    """Change what does not exist here to what does, where that is another; what the address asked for is told."""
    lacking = {name: value for name, value in values.items() if value != current().value(name)}
    notices.replace(lacking, current())
    change(**lacking)


def drop_asked(**is_lacking: bool) -> None:
    """Of the fields whose values this page lacks, drop what its address asked for; what other pages chose stays."""
    names = [name for name, lacks in is_lacking.items() if lacks and notices.is_asked(name, current())]
    correct(**{name: FIELDS[name].default for name in names})


def fit(shapes: Mapping[str, tuple[int, int]]) -> None:
    """Fit the attention, the layer and the head to the model, as `Selection.for_model`."""
    fitted, chosen = current().for_model(shapes), current().common.head_chosen
    correct(**{name: fitted.value(name) for name in ("site", "layer", "head")})
    change(head_chosen=chosen)


def choose(**values: object) -> None:
    """Change what a person chose; what belonged to the values before becomes its default again (`ResetBy`)."""
    put(current().chosen(**values))


def propose(**values: object) -> None:
    """Set what a page proposes for choices that no person has made (`Proposed`)."""
    put(current().proposed(**values))


def bind(field: str, shown: object = None, *, always: bool = True) -> str:
    """The key of the widget that shows a field, once its value is set; `bound` passes it on with `take`.

    Args:
        field: the field of the selection.
        shown: what to show instead of the field's value, where that leaves the choice to the page.
        always: tell the browser the value in every run, as lists need whose labels change. Otherwise only a value that
            the browser does not show yet: what a person clicks while a run is under way is then not undone by what that
            run says of the moment before.
    """
    value = current().value(field) if shown is None else shown
    value = list(value) if isinstance(value, tuple) else value
    if always or not _was_drawn(field) or sent(field) != value:
        st.session_state[field] = value
    return field


def bound(
    field: str, shown: object = None, *, always: bool = True, read: Callable[[Any], object] = _as_sent
) -> dict[str, Any]:
    """What ties a widget to a field, its key and what is called when a person changes it; as of `bind` and `take`."""
    return {"key": bind(field, shown, always=always), "on_change": take, "args": (field, read)}


def _was_drawn(field: str) -> bool:
    """Whether this run or the one before bound the field on this page, and the browser heard; notes that this run does.

    What a run says that another cuts short may never be sent; and what a run says that another follows before the
    browser has the script of a widget is not seen, so that it is said a second time.
    """
    run: int = st.session_state.get(_RUN, 0)
    bound: dict[str, tuple[int, str | None, bool, int]] = st.session_state.setdefault(_BOUND, {})
    context = get_script_run_ctx()
    page = "" if context is None else context.page_script_hash
    last_run, last_page, was_heard, times = bound.get(field, (run, None, False, 0))
    is_drawn = last_page == page and run - last_run <= 1
    has_ended = is_drawn and last_run <= st.session_state.get(_ENDED, 0)
    times = times + 1 if has_ended else 0
    is_heard = bool(is_drawn and (was_heard or (has_ended and (times > 1 or is_in_browser(field)))))
    bound[field] = (run, page, is_heard, times)
    return is_heard


def take(field: str, read: Callable[[Any], object] = _as_sent) -> None:
    """A person changed the widget that shows a field: its value becomes the selection's, if it can be that.

    `read` gives the field's value for that of the widget; it may raise what Python raises for one of another type.
    """
    if (chosen := taken(field, read)) is not None:
        choose(**{field: chosen[0]})


def taken(field: str, read: Callable[[Any], object] = _as_sent) -> tuple[object] | None:
    """What `take` would choose, alone in a tuple; None where the field cannot be that.

    A browser that has not drawn the newest list yet sends a label of the one before; Streamlit hands it on as it is.
    """
    try:
        value = read(sent(field))
    except (TypeError, ValueError, OverflowError, LookupError):
        return None
    value = tuple(value) if isinstance(value, list) else value
    return (value,) if FIELDS[field].can_be(value) else None


def position(field: str, count: int, default: int) -> int:
    """A chosen position among `count`, or the default; one that is out of range is forgotten."""
    chosen = current().value(field)
    if isinstance(chosen, int) and chosen < count:
        return chosen
    correct(**{field: None})
    return default


def turn_page() -> None:
    """Note in the history what led to another page, where one has been opened; to be called before `st.navigation`."""
    context = get_script_run_ctx()
    page = "" if context is None else context.page_script_hash
    if st.session_state.get(_PAGE, page) != page:
        # What was chosen on the page before led here; what this page makes of it comes with it.
        _note(current())
        st.session_state[_OPENED] = True
    st.session_state[_PAGE] = page


def end() -> None:
    """Note that a run came to its end, and write the selection into the address."""
    publish()
    notices.end(_view())
    st.session_state[_OPENED] = False
    _past().begun = None
    st.session_state[_ENDED] = st.session_state.get(_RUN, 0)


def must_tell() -> bool:
    """Whether this run, of a part of the page alone, told something or ended what was told, which is shown outside."""
    is_of_part = st.session_state.get(_RUN, 0) == st.session_state.get(_ENDED, 0)
    return is_of_part and notices.are_others(_view())


def publish() -> None:
    """Write the selection into the history and the address, at the end of a run."""
    # The history first: the next run may cut this one short at any moment, and what the address shows can be undone.
    _note(current())
    params = to_params(current(), _section())
    if st.query_params.to_dict() != params:
        st.query_params.from_dict(params)


def can_redo() -> bool:
    """Whether a choice was undone, and none made since."""
    history = _past().history
    if history is None or history.at + 1 == len(history.choices):
        return False
    return not changed_fields(history.now.selection, current())


def _past() -> _Past:
    past: _Past = st.session_state.setdefault(_PAST, _Past())
    return past


def _note(selection: Selection) -> None:
    """Remember what a person chose, and the sentence."""
    page = str(st.session_state.get(_AT, ""))
    past, is_opened = _past(), st.session_state.get(_OPENED, True)
    if past.history is None:
        past.history = History.begun(selection, page)
    elif is_opened:
        past.history = past.history.absorbed(selection)
    else:
        past.history = past.history.noted(selection, page, monotonic())
    st.session_state[_SENTENCES] = remembered(sentences(), selection.common.text)


def _note_cut_short(begun: Selection) -> None:
    """Remember what a run began with that did not come to its end, and of a page just opened what was chosen on it."""
    is_opened = st.session_state.get(_OPENED, True)
    _note(begun)
    past = _past()
    if is_opened and past.history is not None:
        past.history = past.history.noted(current(), str(st.session_state.get(_AT, "")), monotonic())


def sentences() -> tuple[str, ...]:
    """Those that this session read, the newest first."""
    known: tuple[str, ...] = st.session_state.get(_SENTENCES, ())
    return known


def undo(by: int) -> bool:
    """Go so many choices back (or, below 0, forward); whether there was any. To be called before widgets are drawn.

    Where Streamlit cuts it short, nothing is undone.

    A choice that was made on another page is undone there: `page_wanted` says where.
    """
    past = _past()
    if past.begun is not None:
        # A choice whose run was cut short is not noted yet. What has changed since is no choice: pages correct, and a
        # browser that has not drawn the newest values yet says those of before.
        _note(past.begun)
    before = past.history
    after = None if before is None else before.moved(-by)
    if before is None or after is None or after.at == before.at:
        return False
    put(after.now.selection.changed(**{name: current().value(name) for name in WAYS}))
    # Beyond this line nothing uses the session.
    past.history, past.begun, past.wanted = after, None, after.page_from(before)
    return True


def want_page(page: str) -> None:
    """The next run leads to this page, by its name in addresses."""
    _past().wanted = page


def page_wanted(page: str) -> str | None:
    """The page to which `want_page`, an undo or an old address leads from the one that is opened; None for none. Once.

    `page`: its name in addresses, which the history takes for that of the choices that follow.
    """
    past = _past()
    asked = st.session_state.pop(_ASKED, None)
    if asked is not None and (now := url.moved(page, asked)) is not None:
        past.wanted, params = now
        put(current().changed(**choices(params)))
        # Its tab is gone; all else is asked of the page to which it leads.
        tabs = {FIELDS[page.tab].param for page in PAGES.values()}
        notices.asked({**{name: asked[name] for name in asked if name not in tabs}, **params}, current())
        past.begun = current()
    wanted, past.wanted = past.wanted, None
    if wanted is not None and wanted != page:
        return wanted
    st.session_state[_AT] = page
    return None


def page() -> str:
    """The name in addresses of the page that is open."""
    return str(st.session_state.get(_AT, ""))
