"""Threads sleep while they wait, unless a person has said otherwise."""

import os
import subprocess
import sys

import pytest

from model.thread_settings import sleep_while_waiting
from tests.paths import ROOT


def test_what_a_person_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    sleep_while_waiting()
    assert os.environ["OMP_WAIT_POLICY"] == "active"


def test_it_is_said_before_the_app_can_load_torch() -> None:
    code = "import os, sys\nimport viz.access.models\nprint(os.environ['OMP_WAIT_POLICY'], 'torch' in sys.modules)"
    clean = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=clean,
        check=True,
        capture_output=True,
        encoding="utf-8",
        timeout=200,
    )
    assert done.stdout.split() == ["passive", "False"]
