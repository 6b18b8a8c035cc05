"""Memory of a process as Linux counts it: how much it takes, and the most it ever took since a certain moment.

Knows nothing of what is measured. One kB of /proc is 1,024 bytes; figures here are bytes.
"""

import ctypes
import gc
from pathlib import Path

import psutil


def resident(process: int | str = "self") -> int:
    """Bytes that a process holds in memory."""
    return _status(process, "VmRSS")


def available() -> int:
    """Bytes that are free on this machine for a new process."""
    return int(psutil.virtual_memory().available)


def settle() -> int:
    """Give back what is free already, forget the most that was ever held, and return what is held now."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    # 5 sets the peak (VmHWM) back to what is held now; see proc(5), /proc/pid/clear_refs.
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    return resident()


def peak() -> int:
    """The most that this process held since `settle`."""
    return _status("self", "VmHWM")


def _status(process: int | str, field: str) -> int:
    for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return 0
