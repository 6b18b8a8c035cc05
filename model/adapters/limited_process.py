"""Run a module of ours in a process of its own with limits on time and memory, for what files of unknown origin ask.

What they do to that process, they would have done to the server.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def answer_of(module: str, arguments: Sequence[str], given: bytes = b"", *, patience: float) -> dict[str, Any] | None:
    """The JSON object in the last line that a module prints; None if it ends without one.

    Args:
        module: it sets its own limits, by `limit`.
        arguments: of its command line.
        given: its standard input.
        patience: seconds by the clock; a machine that has much else to do is slow.

    Raises:
        subprocess.TimeoutExpired: they have passed; the process is ended.
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
    done = subprocess.run(
        [sys.executable, "-P", "-m", module, *arguments],
        env=environment,
        input=given,
        capture_output=True,
        timeout=patience,
        check=False,
    )
    try:
        answer = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def limit(seconds: int, memory: int) -> None:
    """Let this process take no more seconds of computing and bytes of memory, where the system knows such limits."""
    try:
        import resource
    except ImportError:
        return
    for what, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0)):
        try:
            resource.setrlimit(what, (most, most))
        except (ValueError, OSError):
            continue


def first_words(error: BaseException, most: int = 200) -> str:
    """What an error says in its first line, or in all where that only begins a list, shortened to a part of a
    sentence.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    line = (" ".join(lines) if lines[0].endswith(":") else lines[0]).rstrip(".:")
    # Half of a surrogate pair in a file's JSON cannot be sent to a browser.
    line = line.encode("utf-8", errors="replace").decode()
    return line if len(line) <= most else f"{line[:most]} …"
