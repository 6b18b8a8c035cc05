"""End a command at Ctrl-C with one line and the shell's exit code for it, also while it imports what takes seconds.

Within an import, an exception would be shown with every module that was being imported, or be taken for a missing one.
Imports nothing but the standard library's smallest, so that an entry point can ask for it before all else.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Final, NoReturn

#: The exit code of what Ctrl-C has ended: 128 and the number of the signal.
INTERRUPTED: Final = 130
#: What was pressed since `notice`.
_NOTICED: Final[list[int]] = []


def notice() -> None:
    """From now on remember Ctrl-C, and do what was done at it before. In the main thread; in another, do nothing."""
    if current_thread() is not main_thread():
        return
    before = signal.getsignal(signal.SIGINT)

    def pressed(number: int, frame: FrameType | None) -> None:
        _NOTICED.append(number)
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGINT, pressed)


def was_noticed() -> bool:
    """Whether Ctrl-C was pressed since `notice`: a server that others wrote ends with an exit code of its own."""
    return bool(_NOTICED)


def end_at_once(program: str = "") -> None:
    """From now on end this process at Ctrl-C, with a line that begins with the program's name; in the main thread.

    `program`: what a person typed; by default the module that Python was asked to run.
    """

    def end(number: int, frame: FrameType | None) -> None:
        os.write(2, f"\n{program or _asked()}: Stopped.\n".encode())
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, end)


def leave(main: Callable[[], int | None]) -> NoReturn:
    """Run a program to its exit code, or until Ctrl-C, after which it has cleaned up."""
    try:
        with raised():
            sys.exit(main())
    except KeyboardInterrupt:
        print(f"\n{_asked()}: Stopped.", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _asked() -> str:
    options = sys.orig_argv
    return f"python -m {options[options.index('-m') + 1]}" if "-m" in options[:-1] else sys.argv[0]


@contextmanager
def raised() -> Iterator[None]:
    """In the block Ctrl-C raises a KeyboardInterrupt, as usual: something is to be cleaned up there."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler or not callable(before):
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
