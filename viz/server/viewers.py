"""Tell which browser a page run belongs to, call back once that browser has gone, and count what a class predicts.

Streamlit keeps a session for minutes after its browser has left, in case that it comes back, and tells nobody.

A class is a code in an address; its viewers have no names. A viewer is a browser, of which a hash is kept as long as
the class; nothing is written to a disk. A class ends when whoever began it ends it, or an hour after its last answer.
"""

import hashlib
import secrets
from collections import Counter
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

    It must not hold what should be freed before.
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


#: A class ends after so many seconds without an answer.
LASTS: Final = 3_600.0
#: Classes at once, and of one viewer; questions of a class, viewers of a question: what is beyond is not counted.
MOST_CLASSES, MOST_OF_ONE, MOST_QUESTIONS, MOST_VIEWERS = 100, 5, 200, 500


class ClassAnswers:
    """The answers of all classes. Safe to be used from many threads. `clock`: seconds, for tests."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        #: Code → question → viewer → option.
        self._classes: dict[str, dict[str, dict[bytes, int]]] = {}
        self._last: dict[str, float] = {}
        #: Code → who began it.
        self._hosts: dict[str, bytes] = {}

    def begin(self, viewer: str) -> str:
        """A new class of this viewer; returns its code.

        Where there are too many, the quietest ends: of this viewer's, or of those of the viewer who has most.
        """
        code, host = secrets.token_hex(4), _known("", viewer)
        with self._lock:
            are_many = len(self._drop_old()) >= MOST_CLASSES
            counts = Counter(self._hosts.values())
            if counts[host] >= MOST_OF_ONE or are_many:
                hosts = (
                    {host}
                    if counts[host] >= MOST_OF_ONE
                    else {who for who in counts if counts[who] == max(counts.values())}
                )
                self._end(min((own for own, who in self._hosts.items() if who in hosts), key=self._last.__getitem__))
            self._classes[code], self._last[code], self._hosts[code] = {}, self._clock(), host
        return code

    def is_host(self, code: str, viewer: str) -> bool:
        """Whether this viewer began the class."""
        return self._hosts.get(code) == _known("", viewer)

    def end(self, code: str) -> None:
        """Forget a class and its answers; do nothing where there is none."""
        with self._lock:
            self._end(code)

    def is_open(self, code: str) -> bool:
        """Whether answers of this class are counted."""
        with self._lock:
            return code in self._drop_old()

    def answer(self, code: str, question: str, viewer: str, option: int) -> None:
        """Take a viewer's answer in place of any before, or with option 0 none."""
        with self._lock:
            questions = self._drop_old().get(code)
            if questions is None or (question not in questions and len(questions) >= MOST_QUESTIONS):
                return
            answers, known = questions.setdefault(question, {}), _known(code, viewer)
            answers.pop(known, None)
            if option and len(answers) < MOST_VIEWERS:
                answers[known] = option
            self._last[code] = self._clock()

    def counts(self, code: str, question: str, options: int) -> list[int]:
        """How many chose each of the options, which count from 1."""
        with self._lock:
            answers = list(self._classes.get(code, {}).get(question, {}).values())
        return [answers.count(option) for option in range(1, options + 1)]

    def _end(self, code: str) -> None:
        self._classes.pop(code, None)
        self._last.pop(code, None)
        self._hosts.pop(code, None)

    def _drop_old(self) -> dict[str, dict[str, dict[bytes, int]]]:
        """What is left; the lock is held."""
        now = self._clock()
        for code in [code for code, last in self._last.items() if now - last > LASTS]:
            self._end(code)
        return self._classes


def _known(code: str, viewer: str) -> bytes:
    return hashlib.sha256(f"{code}/{viewer}".encode()).digest()


#: Those of this server.
CLASSES: Final = ClassAnswers()
