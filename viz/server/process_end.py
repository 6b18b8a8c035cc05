"""Let the process end in order while threads compute: torch would abort it with "terminate called".

When Python ends it cuts off every daemon thread where that next asks for the interpreter. In the middle of torch's code
this is an error that ends the process with a message and a core dump.
"""

import atexit
import os
import sys
from collections.abc import Callable
from threading import enumerate as all_threads
from time import monotonic
from typing import Final

#: Seconds that threads have to come to an end; then the process ends without them.
PATIENCE: Final = 5.0
#: The threads of our jobs, and those in which Streamlit runs pages.
JOB_THREAD: Final = "headlight-job"
PAGE_THREAD: Final = "ScriptRunner.scriptThread"


def at_end(stop: Callable[[], None]) -> None:
    """When the process ends, call this, which tells jobs to stop, and wait for them and for pages that are drawn."""
    atexit.register(_end, stop)


def _end(stop: Callable[[], None]) -> None:
    stop()
    last = monotonic() + PATIENCE
    threads = [thread for thread in all_threads() if thread.name in (JOB_THREAD, PAGE_THREAD)]
    for thread in threads:
        thread.join(max(0.0, last - monotonic()))
    if any(thread.is_alive() for thread in threads):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
