"""Tell which browser a page run belongs to, and call back once that browser has gone.

Streamlit keeps a session for minutes after its browser has left, in case it comes back, and tells nobody.
"""

from collections.abc import Callable
from itertools import cycle
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Final

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

#: A browser whose connection broke has so many seconds to come back; looked for so often.
GRACE, INTERVAL = 2.0, 0.25

#: Streamlit's own, against forged requests; it knows a browser, and no person, until the browser is closed.
COOKIE: Final = "_streamlit_xsrf"

Call = Callable[[], None]


def current() -> str:
    """The session of this page run; "" outside of one."""
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id


def browser() -> str:
    """The browser of this page run, so that its tabs count as one viewer; the session where it sends no cookie.

    Not for security: whoever sends no cookie, or a new one with each session, counts as one viewer a session. An IP
    address would be worse: a class behind one router or proxy shares one.
    """
    session = current()
    if not session:
        return ""
    token = _token(str(st.context.cookies.get(COOKIE, "")))
    return f"browser {token}" if token else session


def _token(cookie: str) -> str:
    """What stays the same in a cookie that is written again, under another mask, whenever a page is loaded."""
    parts = cookie.split("|")
    if len(parts) != 4 or parts[0] != "2" or len(cookie) > 200:
        return ""
    try:
        mask, masked = bytes.fromhex(parts[1]), bytes.fromhex(parts[2])
    except ValueError:
        return ""
    return bytes(a ^ b for a, b in zip(masked, cycle(mask), strict=False)).hex() if mask else ""


def is_here(viewer: str) -> bool:
    """Whether the browser of a session is connected; always true where no server runs, as in tests."""
    try:
        # What stands in for a server in tests answers neither.
        return not viewer or runtime.get_instance().is_active_session(viewer) is not False
    except RuntimeError:  # No server runs, or none any more.
        return True


def when_gone(viewer: str, call: Call) -> Call:
    """Call back once, from another thread, when a viewer has been gone for `GRACE` seconds; returns what undoes this.

    `call` must not hold a reference to anything that should be freed before then.
    """
    return _DEPARTURES.add(viewer, call)


class Departures:
    """Callbacks for viewers that leave; a thread checks for them as long as there are any."""

    def __init__(self) -> None:
        self._calls: dict[object, tuple[str, Call]] = {}
        self._gone_since: dict[str, float] = {}
        self._lock = Lock()
        self._is_watching = False

    def add(self, viewer: str, call: Call) -> Call:
        """As `when_gone`."""
        ticket = object()
        with self._lock:
            self._calls[ticket] = (viewer, call)
            if not self._is_watching:
                self._is_watching = True
                Thread(target=self._watch, daemon=True, name="headlight-viewers").start()
        return lambda: self._forget(ticket)

    def _forget(self, ticket: object) -> None:
        with self._lock:
            self._calls.pop(ticket, None)

    def _watch(self) -> None:
        while True:
            sleep(INTERVAL)
            with self._lock:
                if not self._calls:
                    self._gone_since.clear()
                    self._is_watching = False
                    return
                calls = [self._calls.pop(ticket)[1] for ticket in self._due()]
            for call in calls:
                call()

    def _due(self) -> list[object]:
        """The callbacks that are due; the lock is held."""
        now, viewers = monotonic(), {viewer for viewer, _ in self._calls.values()}
        missing = {viewer for viewer in viewers if not is_here(viewer)}
        self._gone_since = {viewer: self._gone_since.get(viewer, now) for viewer in missing}
        gone = {viewer for viewer, since in self._gone_since.items() if now - since >= GRACE}
        return [ticket for ticket, (viewer, _) in self._calls.items() if viewer in gone]


_DEPARTURES: Final = Departures()
