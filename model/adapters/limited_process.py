"""Run a module of ours in a separate process with limits on time and memory, for what files of unknown origin ask.

What they do to that process, they would have done to the server. It sets limits for itself where the system has them
(`limit`): Linux enforces both, macOS the time, Windows none. On every system the server watches it, too, and ends it
soon after it has exceeded one.
"""

import contextlib
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from threading import Thread
from time import monotonic, sleep
from typing import Any, Final

import psutil

from model.checked import without_surrogates

#: Seconds between two looks at what the process has taken.
INTERVAL: Final = 0.1
#: Of Linux (sys/prctl.h): the signal that a process gets when the thread that started it ends.
_PR_SET_PDEATHSIG: Final = 1
#: What is of no use in a message: colours of a terminal, what refers to a report that nobody sees, and our own folders.
_UNSHOWN: Final = re.compile(r"\x1b\[[0-9;]*m|\s*For details look at .*above report")
_TEMPORARY: Final = re.compile(rf"{re.escape(gettempdir())}[/\\][^\s'\"]*")
#: On Windows the Python of a virtual environment is a program that starts another, which does the work.
HAS_LAUNCHER: Final = psutil.WINDOWS


def answer_of(
    module: str, arguments: Sequence[str], given: bytes = b"", *, seconds: int, memory: int, patience: float
) -> dict[str, Any] | None:
    """The JSON object in the last line that a module prints; None if it ends, or has to be ended, without one.

    Raises a subprocess.TimeoutExpired if they have passed; the process is ended.

    Args:
        module: it calls `serve`.
        arguments: of its command line, followed by the number of this process, `seconds` and `memory`.
        given: its standard input.
        seconds, memory: seconds of computing and bytes of memory that it may take.
        patience: seconds by the clock; a machine that has much else to do is slow.
    """
    # The folder above the outermost package: `model` in the repository, `headlight` where it is installed.
    root = Path(__file__).parents[(__package__ or "").count(".") + 1]
    searched = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(searched),
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "RAYON_NUM_THREADS": "1",
        # Each thread of a library would reserve memory of its own.
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-P", "-m", module, *arguments, str(os.getpid()), str(seconds), str(memory)]
    # A file, because what was not yet written into a pipe when `communicate` ran out of time is never written.
    with TemporaryFile() as content:
        content.write(given)
        content.seek(0)
        with subprocess.Popen(
            command, env=environment, stdin=content, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            try:
                printed = _printed(process, seconds, memory, patience)
            finally:
                # The number of a process that has ended may be that of another by now.
                if process.returncode is None:
                    for each in _family(process.pid):
                        with contextlib.suppress(psutil.Error):
                            each.kill()
    try:
        # Half of a surrogate pair, which JSON can spell, no tokenizer reads, and no browser can be sent.
        answer = json.loads(without_surrogates(json.dumps(json.loads(printed.splitlines()[-1]), ensure_ascii=False)))
    except (IndexError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def limit(seconds: int, memory: int) -> None:
    """Let this process take no more seconds of computing and bytes of memory, where the system has such limits.

    Where it has none, or does not enforce them, only `answer_of` does, which looks ten times a second.
    """
    try:
        import resource
    except ImportError:
        return
    for what, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0)):
        try:
            resource.setrlimit(what, (most, most))
        except (ValueError, OSError):
            continue


def end_with(parent: int) -> None:
    """End this process soon after the one with this number, however that ends: Linux does it, elsewhere a thread."""
    kill = getattr(signal, "SIGKILL", None)
    if sys.platform == "linux" and kill is not None:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, kill)
    try:
        watched = psutil.Process(parent)
    except psutil.Error:
        os._exit(1)
    Thread(target=_end_after, args=(watched,), daemon=True).start()


def _end_after(watched: psutil.Process) -> None:
    with contextlib.suppress(psutil.Error):
        while watched.is_running() and watched.status() != psutil.STATUS_ZOMBIE:
            sleep(1)
    os._exit(1)


def serve(answer: Callable[..., dict[str, Any]]) -> None:
    """Be the process of `answer_of`: print, in a line of its own, what a function answers to the arguments."""
    *arguments, parent, seconds, memory = sys.argv[1:]
    end_with(int(parent))
    limit(int(seconds), int(memory))
    print(json.dumps(answered(answer, *arguments)), flush=True)


def answered(answer: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """What a function answers; what is "wrong" where it raises anything, as files of unknown origin may let it."""
    try:
        return answer(*arguments)
    except MemoryError:
        return {"wrong": "it takes too much memory"}
    except BaseException as error:  # A panic of compiled code is not an Exception.
        return {"wrong": first_words(error)}


def _printed(process: subprocess.Popen[bytes], seconds: int, memory: int, patience: float) -> bytes:
    """All that a process prints until it ends; nothing if it takes more than it may."""
    last = monotonic() + patience
    while True:
        try:
            return process.communicate(timeout=INTERVAL)[0]
        except subprocess.TimeoutExpired as error:
            if monotonic() >= last:
                raise subprocess.TimeoutExpired(process.args, patience) from error
        taken_seconds, taken_memory = _taken(process.pid)
        if taken_seconds > seconds or taken_memory > memory:
            return b""


def _taken(process: int) -> tuple[float, int]:
    """Seconds of computing and bytes of memory that a process has taken; 0 of one that has ended."""
    seconds, memory = 0.0, 0
    for each in _family(process):
        with contextlib.suppress(psutil.Error):
            times, held = each.cpu_times(), each.memory_info()
            seconds += times.user + times.system
            # What is reserved counts on Windows, as it does for the limit of Linux; only there psutil knows it.
            memory += max(held.rss, getattr(held, "private", 0))
    return seconds, memory


def _family(process: int) -> list[psutil.Process]:
    """A process, with those that it started where Python is started by another program; none if it has ended."""
    try:
        first = psutil.Process(process)
        return [*first.children(recursive=True), first] if HAS_LAUNCHER else [first]
    except psutil.Error:
        return []


def first_words(error: BaseException, most: int = 200) -> str:
    """An error's first line, or all of it where that only begins a list, shortened to a part of a sentence."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    line = _UNSHOWN.sub("", " ".join(lines) if lines[0].endswith(":") else lines[0])
    line = _TEMPORARY.sub("its folder", line).rstrip(".:! ")
    # Half of a surrogate pair in a file's JSON cannot be sent to a browser.
    line = without_surrogates(line)
    return line if len(line) <= most else f"{line[:most]} …"
