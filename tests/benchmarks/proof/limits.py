"""Runs one measurement in a fresh process, and ends it before it takes more time or memory than it may.

So a contender that cannot do it costs a line in the table, not the machine. Knows nothing of what is measured.
"""

import json
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.benchmarks.proof.memory import resident

INTERVAL: Final = 0.03
#: What a measurement prints before its figures, so that no library's chatter is taken for them.
MARK: Final = "figures:"


@dataclass(frozen=True)
class Limits:
    """What one process may take: seconds of wall clock and bytes of memory."""

    seconds: float
    memory: int


class RunFailedError(Exception):
    """A contender did not get there; the message says how, in a few words."""


def figures_of(command: Sequence[str], limits: Limits) -> dict[str, Any]:
    """What a measurement prints, as JSON, behind `MARK`.

    Raises:
        RunFailedError: it took too much, or failed.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        try:
            _watch(process, limits)
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        errors.seek(0)
        printed, said = (file.read().decode(errors="replace") for file in (output, errors))
    found = [line.removeprefix(MARK) for line in printed.splitlines() if line.startswith(MARK)]
    if process.returncode or not found:
        raise RunFailedError(_reason(process.returncode, said))
    figures: dict[str, Any] = json.loads(found[-1])
    if "failed" in figures:
        raise RunFailedError(figures["failed"])
    return figures


def _watch(process: "subprocess.Popen[bytes]", limits: Limits) -> None:
    until = time.monotonic() + limits.seconds
    while process.poll() is None:
        if time.monotonic() > until:
            raise RunFailedError(f"not done after {limits.seconds:,.0f} s")
        try:
            held = resident(process.pid)
        except FileNotFoundError:
            return
        if held > limits.memory:
            raise RunFailedError(f"out of memory: needs more than {limits.memory / 1e9:.1f} GB")
        time.sleep(INTERVAL)


def _reason(code: int, said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if code < 0:
        return f"ended by signal {-code}"
    return f"failed: {lines[-1][:160]}" if lines else f"failed with exit code {code}"
