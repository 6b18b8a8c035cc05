"""Tell which browser a page run belongs to, and call back once that browser has gone.

Streamlit keeps a session for minutes after its browser has left, in case that it comes back, and tells nobody.
"""

from collections.abc import Callable
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Final

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

#: A browser whose connection broke has so many seconds to come back; looked for so often.
GRACE, INTERVAL = 2.0, 0.25

Call = Callable[[], None]


def current() -> str:
    """The session of this page run; "" outside of one."""
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id


def is_here(viewer: str) -> bool:
    """Whether the browser of a session is connected; always where no server runs, as in tests."""
    return not viewer or not runtime.exists() or runtime.get_instance().is_active_session(viewer)


def when_gone(viewer: str, call: Call) -> Call:
    """Call back once, from another thread, when a viewer has been gone for `GRACE` seconds; returns what undoes this.

    It must not hold what should be freed before.
    """
    return _DEPARTURES.add(viewer, call)


class Departures:
    """Who is to be told of whose going; a thread looks after them as long as there are any."""

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
        """What is to be called now; the lock is held."""
        now, viewers = monotonic(), {viewer for viewer, _ in self._calls.values()}
        missing = {viewer for viewer in viewers if not is_here(viewer)}
        self._gone_since = {viewer: self._gone_since.get(viewer, now) for viewer in missing}
        gone = {viewer for viewer, since in self._gone_since.items() if now - since >= GRACE}
        return [ticket for ticket, (viewer, _) in self._calls.items() if viewer in gone]


_DEPARTURES: Final = Departures()
