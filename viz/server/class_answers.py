"""Count what the viewers of one link predict, without names, as long as the server runs.

A class is a code in an address. A viewer is a browser, of which a hash is kept as long as the class; nothing is written
to a disk. A class ends when whoever began it ends it, or an hour after its last answer.
"""

import hashlib
import secrets
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final

#: A class ends after so many seconds without an answer.
LASTS: Final = 3_600.0
#: Classes at once, questions of a class, viewers of a question: what is beyond is not counted.
MOST_CLASSES, MOST_QUESTIONS, MOST_VIEWERS = 100, 200, 500


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
        """A new class of this viewer; returns its code. Where there are too many, the quietest ends."""
        code = secrets.token_hex(4)
        with self._lock:
            if len(self._drop_old()) >= MOST_CLASSES:
                self._end(min(self._last, key=self._last.__getitem__))
            self._classes[code], self._last[code], self._hosts[code] = {}, self._clock(), _known(code, viewer)
        return code

    def is_host(self, code: str, viewer: str) -> bool:
        """Whether this viewer began the class."""
        return self._hosts.get(code) == _known(code, viewer)

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
