"""A process that ends while a job computes in torch's code ends in order."""

import subprocess
import sys

from tests.paths import ROOT
from tests.patience import PATIENCE

COMPUTING = """
import threading, torch
from viz.server.background_jobs import Job, Task

def compute(progress):
    layers = torch.nn.Sequential(*(torch.nn.Linear(500, 500) for _ in range(20)))
    with torch.inference_mode():
        while True:
            layers(torch.ones(300, 500))
            begun.set()
            progress(1)

begun = threading.Event()
jobs = [Job(Task(number, 1, "passes", compute)) for number in range(3)]
assert begun.wait(60)
"""


def test_a_process_ends_in_order_while_jobs_compute() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", COMPUTING], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE
    )
    assert (ended.returncode, "terminate called" in ended.stderr) == (0, False), ended.stderr
