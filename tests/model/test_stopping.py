"""Ctrl-C ends every command and the app's server with a line and exit code 130, whatever they import or do then."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from model import stopping
from tests.paths import ROOT

PROGRAMS = {
    "python -m model": ["claims", "--size", "20000"],
    "python -m viz.gallery": ["--out", "SITE"],
    "python -m tests.benchmarks.decoding": [],
}
NOT_ON_WINDOWS = pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signal to one process")


def pressed(command: list[str], imported: str, seconds: float) -> tuple[int, list[str]]:
    """The exit code and lines of a command at which Ctrl-C is pressed so long after it has imported a module."""
    # It tells of every import when that is done: what Python does before ours is not ours.
    command = [sys.executable, "-X", "importtime", "-m", *command]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", bufsize=1
    ) as process:
        assert process.stderr is not None
        while not process.stderr.readline().endswith(f"{imported}\n"):
            assert process.poll() is None
        time.sleep(0.02 + seconds)
        process.send_signal(signal.SIGINT)
        said = [line for line in process.stderr if not line.startswith("import time:") and "it/s" not in line]
    return process.returncode, said


@NOT_ON_WINDOWS
@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("seconds", [0.0, 0.2, 1.0])
def test_control_c_is_a_line_and_exit_code_130(program: str, seconds: float, tmp_path: Path) -> None:
    module = program.rpartition(" ")[2]
    arguments = [str(tmp_path / "site") if given == "SITE" else given for given in PROGRAMS[program]]
    code, said = pressed([module, *arguments], "model.stopping", seconds)
    assert code == stopping.INTERRUPTED
    assert [line for line in said if line.strip()][-1] == f"{program}: Stopped.\n"
    assert len(said) <= 3


@NOT_ON_WINDOWS
@pytest.mark.long
@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_control_c_ends_the_server_of_the_app_alike_while_it_loads_the_first_page(seconds: float) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
    code, said = pressed(["streamlit", "run", "app.py", *options], "viz.server.background_jobs", seconds)
    assert (code, [line for line in said if line.strip()]) == (stopping.INTERRUPTED, ["Aborted!\n"])


def test_within_what_cleans_up_it_raises_and_afterwards_ends_again() -> None:
    code = (
        "import os, signal\nfrom model import stopping\nstopping.end_at_once('program')\n"
        "try:\n    with stopping.raised():\n        os.kill(os.getpid(), signal.SIGINT)\n"
        "except KeyboardInterrupt:\n    print('cleaned up', flush=True)\n"
        "os.kill(os.getpid(), signal.SIGINT)\nprint('never')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "cleaned up\n", "\nprogram: Stopped.\n")


def test_a_program_that_is_stopped_leaves_by_its_finally() -> None:
    code = (
        "import os, signal\nfrom model import stopping\nstopping.end_at_once()\ndef main():\n    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n    finally:\n        print('cleaned up')\nstopping.leave(main)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=60)
    assert (done.returncode, done.stdout) == (130, "cleaned up\n")
    assert done.stderr.endswith(": Stopped.\n")
