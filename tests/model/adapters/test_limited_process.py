"""A process that takes too much is ended by the server that watches it, on systems without limits of their own too."""

import os
import subprocess
from pathlib import Path
from time import monotonic

import psutil
import pytest

from model.adapters import limited_process
from model.adapters.limited_process import answer_of

HOLDING = "import time; held = b'x' * (300 << 20); time.sleep(60)"
TAKES = {
    "memory": HOLDING,
    "time": "while True: pass",
    "memory in another": f"subprocess.run([sys.executable, '-c', {HOLDING!r}])",
}


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules of the test are found by the process."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def children() -> list[psutil.Process]:
    return [each for each in psutil.Process().children(recursive=True) if each.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("what", TAKES)
def test_a_process_that_sets_itself_no_limit_is_ended_with_those_it_started(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "greedy.py").write_text(f"import subprocess, sys, time\n{TAKES[what]}\n", encoding="utf-8")
    monkeypatch.setattr(limited_process, "HAS_LAUNCHER", what == "memory in another")
    before, begun = children(), monotonic()
    assert answer_of("greedy", [], seconds=1, memory=200 << 20, patience=60) is None
    assert monotonic() - begun < 30
    assert set(children()) <= set(before)  # Others may end meanwhile.


def test_a_process_that_waits_is_ended_when_patience_is(tmp_path: Path) -> None:
    (tmp_path / "idle.py").write_text("import time\ntime.sleep(60)\n", encoding="utf-8")
    before = children()
    with pytest.raises(subprocess.TimeoutExpired, match=r"after 0\.5 seconds"):
        answer_of("idle", [], seconds=5, memory=1 << 30, patience=0.5)
    assert set(children()) <= set(before)  # Others may end meanwhile.


def test_a_modest_process_is_given_all_and_its_last_line_is_the_answer(tmp_path: Path) -> None:
    printing = "print(json.dumps({'got': [len(sys.stdin.read()), *sys.argv[1:]]}))"
    code = f"import json, sys, time\ntime.sleep(0.3)\nprint('first')\n{printing}\n"
    (tmp_path / "modest.py").write_text(code, encoding="utf-8")
    answer = answer_of("modest", ["ä\\b"], b"x" * 300_000, seconds=5, memory=1 << 30, patience=60)
    assert answer == {"got": [300_000, "ä\\b", str(os.getpid()), "5", str(1 << 30)]}
