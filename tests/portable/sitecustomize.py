"""Take from Python, before anything else is imported, what Windows does not have. Python imports it by this name.

It is found by PYTHONPATH, so it holds for a process and for all that this one starts; on Windows itself it does
nothing. Gone are functions and constants of POSIX, glibc's own functions, links, every way to start a process but
`spawn`, and UTF-8 as the default encoding, which is an error where our own code relies on it. A file that is open, or
mapped into memory, can be neither replaced nor deleted, and a folder cannot be opened. Modules and signals of POSIX are
gone for our own code: libraries ask for them wherever the system calls itself Linux. What Python's own library and
psutil would build otherwise on Windows is imported first and keeps what it needs.
"""

import asyncio  # noqa: F401 - built for POSIX before that is gone
import builtins
import ctypes
import io
import locale
import multiprocessing
import os
import platform
import re
import signal
import subprocess  # noqa: F401 - as asyncio
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil  # noqa: F401 - as asyncio

ENCODING = "cp1252"
MODULES = ("fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")
OF_OS = (
    "O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC", "confstr", "fork", "forkpty",
    "getegid", "geteuid", "getgid", "getloadavg", "getpgid", "getuid", "killpg", "mkfifo", "mknod", "nice", "pread",
    "pwrite", "sched_getaffinity", "setpgid", "setsid", "statvfs", "sysconf",
)  # fmt: skip
OF_SIGNAL = ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGQUIT", "SIGUSR1", "SIGUSR2", "alarm", "setitimer")
OF_GLIBC = ("mallopt", "malloc_trim")
OURS = r"(model|viz|app|tests|__main__)(\.|$)"


class Library(ctypes.CDLL):
    """A library of C without what glibc alone has."""

    def __getattr__(self, name: str) -> Any:
        if name in OF_GLIBC:
            raise AttributeError(name)
        return super().__getattr__(name)


def is_ours(scope: Mapping[str, Any]) -> bool:
    """Whether a module, by its names, is of this project."""
    return re.match(OURS, scope.get("__name__", "")) is not None


def take_away() -> None:
    """All of POSIX and glibc, and links."""
    platform.uname()
    signals = dict(vars(signal))

    def signal_of_others(name: str) -> Any:
        if is_ours(sys._getframe(1).f_globals) or name not in signals:
            raise AttributeError(name)
        return signals[name]

    def import_of_others(name: str, scope: Mapping[str, Any] | None = None, *rest: Any, **options: Any) -> Any:
        if name in MODULES and is_ours(scope or {}):
            raise ModuleNotFoundError(name)
        return imported(name, scope, *rest, **options)

    imported = builtins.__import__
    vars(builtins)["__import__"] = import_of_others
    vars(signal)["__getattr__"] = signal_of_others
    for owner, names in ((os, OF_OS), (signal, OF_SIGNAL)):
        for name in names:
            vars(owner).pop(name, None)
    os.supports_dir_fd.clear()
    vars(os)["symlink"] = no_link
    vars(ctypes)["CDLL"] = Library
    multiprocessing.set_start_method("spawn")
    for name in ("fork", "forkserver"):
        vars(multiprocessing.context)["_concrete_contexts"].pop(name, None)


def no_link(*_: object, **__: object) -> None:
    """Windows lets nobody make links who is not allowed to."""
    raise OSError(22, "A required privilege is not held by the client")


def keep_what_is_used() -> None:
    """Files that this process has open or mapped stay where they are; folders are not opened."""

    def guarded(act: Callable[..., None], number: int) -> Callable[..., None]:
        def guard(*paths: Any, dir_fd: int | None = None, **options: Any) -> None:
            assert dir_fd is None
            path = os.path.realpath(paths[number])
            if path in in_use():
                raise PermissionError(13, "The process cannot access the file because it is being used", path)
            act(*paths, **options)

        return guard

    def open_file(path: Any, *rest: int, dir_fd: int | None = None) -> int:
        assert dir_fd is None
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, *rest)

    opened = os.open
    vars(os).update(
        open=open_file,
        unlink=guarded(os.unlink, 0),
        remove=guarded(os.remove, 0),
        rename=guarded(os.rename, 0),
        replace=guarded(guarded(os.replace, 0), 1),
    )
    import tempfile

    # So it is on Windows; elsewhere the file is deleted while it is open.
    vars(tempfile)["TemporaryFile"] = tempfile.NamedTemporaryFile


def in_use() -> set[str]:
    """Real paths of the files that this process has open or mapped, where the system tells."""
    handles = Path("/proc/self/fd")
    if not handles.exists():
        return set()
    with open("/proc/self/maps", encoding="utf-8") as maps:
        mapped = {line.rstrip("\n").split(maxsplit=5)[-1] for line in maps}
    return mapped | {os.path.realpath(handle) for handle in handles.iterdir()}


def open_as_windows_does() -> None:
    """Text is cp1252 where no encoding is named, which is an error in our own code; no file tells of the system."""
    opened = io.open

    def open_text(
        file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None, *rest: Any, **options: Any
    ) -> Any:
        caller = sys._getframe(1).f_globals
        if str(file).startswith(("/proc/", "/sys/")) and (is_ours(caller) or caller["__name__"] == "pathlib"):
            raise FileNotFoundError(2, "No such file or directory", file)
        if "b" not in mode and encoding in (None, "locale"):
            if encoding is None:
                warnings.warn("no encoding is named", EncodingWarning, stacklevel=2)
            encoding = ENCODING
        return opened(file, mode, buffering, encoding, *rest, **options)

    vars(io)["open"] = vars(builtins)["open"] = open_text
    for name in ("getpreferredencoding", "getencoding"):
        vars(locale)[name] = lambda *_: ENCODING
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding=ENCODING, errors="strict")
    warnings.filterwarnings("ignore", category=EncodingWarning)
    warnings.filterwarnings("error", category=EncodingWarning, module=OURS)


if sys.platform != "win32":
    take_away()
    keep_what_is_used()
    open_as_windows_does()
