"""Limit what viewers take: the rules of a shared server, the time of a computation, and how many pages compute at once.

A server that a class or a lab shares is started with HEADLIGHT_SHARED=1 in its environment, which is read once; whoever
opens folders, takes files, computes or keeps something asks `rules()`.

Sessions are threads of one process, and Python runs one of them at a time. If all computed at once, each new page would
wait for its share of every other. So a page, once its title is shown, waits at most 3 s until few others compute. It
gives its slot back while its computation waits in the queue of long jobs.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import BoundedSemaphore, Lock, local
from time import monotonic, thread_time
from typing import Final

from model.errors import ConfigError, TimeLimitError
from model.interruption import interruptible
from model.temporary_folders import cached_folder
from viz.text.messages import said

SHARED_VARIABLE: Final = "HEADLIGHT_SHARED"
SECONDS_VARIABLE: Final = "HEADLIGHT_SHARED_SECONDS"
FOLDER_VARIABLE: Final = "HEADLIGHT_SHARED_FOLDER"
UNASKED_VARIABLE: Final = "HEADLIGHT_MEASURE_UNASKED"
#: Seconds that one computation may take on a shared server that does not say otherwise, and the most it can say.
SECONDS, MOST_SECONDS = 120, 86_400
#: Megabytes of a file that a person may give a shared server, where its field says nothing else.
MEGABYTES: Final = 2
#: Long computations of one viewer that run at once: on one's own machine, and on a shared server.
OWN_AT_ONCE, SHARED_AT_ONCE = 2, 1
#: The most computations of one viewer that wait on a shared server.
SHARED_WAITING: Final = 8


@dataclass(frozen=True, slots=True)
class Rules:
    """What this server allows."""

    is_shared: bool = False  #: whether these are the rules of a shared server
    seconds: float | None = None  #: the most time of one computation; None for no limit
    at_once: int = OWN_AT_ONCE  #: long computations of one viewer that run at once
    waiting: int | None = None  #: the most that wait, of one viewer; None for no limit
    #: whether a model is measured unasked, while nobody waits for anything; never on a shared server.
    measures_unasked: bool = True
    #: of a shared server, where those behind one address keep what all of them need; None for nowhere.
    folder: Path | None = None

    @property
    def names_folders(self) -> bool:
        """Whether a person may name a folder of the machine, or have a model fetched."""
        return not self.is_shared

    @property
    def keeps_files(self) -> bool:
        """Whether what people have computed may be written to the machine's disk."""
        return not self.is_shared or self.folder is not None

    def most_megabytes(self, usual: int, shared: int = MEGABYTES) -> int:
        """The most megabytes of a file, for a field that usually takes `usual`, and `shared` on a shared server."""
        return min(usual, shared) if self.is_shared else usual


@cache
def rules() -> Rules:
    """The rules of this server. Raises as `read`."""
    return read(os.environ)


def read(environment: Mapping[str, str]) -> Rules:
    """The rules that an environment asks for. Raises a ConfigError if a variable has an invalid value."""
    shared, unasked = environment.get(SHARED_VARIABLE, ""), environment.get(UNASKED_VARIABLE, "")
    if shared not in ("", "0", "1"):
        message = "{variable} must be 1 for a shared server, or 0; it is {given!r}. Restart Headlight."
        raise ConfigError(message, variable=SHARED_VARIABLE, given=shared)
    if unasked not in ("", "0", "1"):
        message = "{variable} must be 0 (measure no model unless asked) or 1; it is {given!r}. Restart Headlight."
        raise ConfigError(message, variable=UNASKED_VARIABLE, given=unasked)
    if shared != "1":
        return Rules(measures_unasked=unasked != "0")
    seconds = _seconds(environment.get(SECONDS_VARIABLE, ""))
    folder = _folder(environment.get(FOLDER_VARIABLE, ""))
    return Rules(True, seconds, SHARED_AT_ONCE, SHARED_WAITING, measures_unasked=False, folder=folder)


def _folder(said: str) -> Path | None:
    if not said:
        return None
    folder = Path(said)
    if not (folder.is_absolute() and folder.is_dir() and os.access(folder, os.R_OK | os.W_OK | os.X_OK)):
        message = (
            "{variable} must be the full path of a folder that can be written to; it is {given!r}. Restart Headlight."
        )
        raise ConfigError(message, variable=FOLDER_VARIABLE, given=said[:200])
    return folder


def _seconds(said: str) -> float:
    if not said:
        return SECONDS
    # Digits of other scripts are digits to Python, too.
    if not (said.isascii() and said.isdigit() and 1 <= int(said[:9]) <= MOST_SECONDS and len(said) <= 9):
        message = "{variable} must be a whole number of seconds from 1 to {most:,}; it is {given!r}. Restart Headlight."
        raise ConfigError(message, variable=SECONDS_VARIABLE, most=MOST_SECONDS, given=said[:40])
    return float(said)


def check(seconds: float, reached: tuple[int, int, str] | None = None) -> None:
    """Raise a TimeLimitError if a computation has taken more seconds, without waiting, than this server allows.

    `reached`: units done, total units, name of the unit.
    """
    most = rules().seconds
    if most is not None and seconds > most:
        if reached is None:
            raise TimeLimitError(
                "Stopped: this server is shared and limits each computation to {most:,.0f} seconds. Use a shorter "
                "text, fewer sentences or a smaller model, or run Headlight on your own machine.",
                most=most,
            )
        done, total, unit = reached
        message = (
            "Stopped after {done:,} of {total:,} {unit}: this server is shared and limits each computation to "
            "{most:,.0f} seconds. Use a shorter text, fewer sentences or a smaller model, or run Headlight on your own "
            "machine."
        )
        raise TimeLimitError(message, done=done, total=total, unit=said(unit), most=most)


@contextmanager
def limited(clock: Callable[[], float] = thread_time) -> Iterator[None]:
    """Limit the time of what a page's own thread computes: raise a TimeLimitError between two passes through a model.

    By default the thread's CPU time counts, so that waiting for others does not.
    """
    if rules().seconds is None:
        yield
        return
    began = clock()
    with interruptible(lambda: check(clock() - began)):
        yield


#: Pages that compute at once without waiting for one another.
MAX_RUNS: Final = max(2, os.cpu_count() or 1)
#: The most seconds that a page waits.
MAX_WAIT: Final = 3.0

_SLOTS: Final = BoundedSemaphore(MAX_RUNS)
_THREAD: Final = local()


#: After a page's run its browser draws for so many seconds; until then what nobody has asked for waits.
QUIET: Final = 0.3


class _Work:
    """How much is under way that somebody waits for, and when something of it was last."""

    count = 0
    last = 0.0
    lock: Final = Lock()


@contextmanager
def at_work() -> Iterator[None]:
    """Surround what somebody waits for: a page's run, a job that was asked for."""
    with _Work.lock:
        _Work.count += 1
    try:
        yield
    finally:
        with _Work.lock:
            _Work.count -= 1
            _Work.last = monotonic()


def is_busy() -> bool:
    """Whether somebody waits for something, or has just got it."""
    return _Work.count > 0 or monotonic() - _Work.last < QUIET


@contextmanager
def page_run() -> Iterator[None]:
    """Surround a page run: release its slot, however the run ends."""
    _THREAD.has_slot = False
    try:
        with at_work():
            yield
    finally:
        release()
        # The same thread may go on with a fragment alone, which nothing would release a slot of.
        _THREAD.has_slot = None


def acquire() -> None:
    """Wait for a slot, after the title and before computing; a fragment that runs alone needs none."""
    if getattr(_THREAD, "has_slot", None) is False:
        _THREAD.has_slot = _SLOTS.acquire(timeout=MAX_WAIT)


def release() -> None:
    """Give back the slot of this run, if it has one; `acquire` waits for another."""
    if getattr(_THREAD, "has_slot", False):
        _THREAD.has_slot = False
        _SLOTS.release()


def cache_folder(name: str) -> Path | None:
    """`headlight/NAME` in the person's cache, as `cached_folder` gives it; where many share the server, NAME in the
    folder that servers share, None without one.
    """
    if (shared := rules().folder) is not None:
        return shared / name
    return cached_folder(name) if rules().keeps_files else None
