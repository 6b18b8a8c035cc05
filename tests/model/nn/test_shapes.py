"""The shapes in the types of the layers hold at every call."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.paths import ROOT

MODULES: Final = (
    "attention", "masks", "positional", "layers", "transformer", "encoder_decoder", "recurrent", "convolutional",
    "score_functions", "edits", "edit_hooks",
)  # fmt: skip


def test_what_these_tests_call_has_the_shapes_that_its_types_say() -> None:
    """In a run of its own: checked at every call, layers would make the whole suite half as slow again."""
    here = Path(__file__)
    packages = ",".join([*(f"model.nn.{module}" for module in MODULES), "beartype.beartype"])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    checked = subprocess.run(
        [*command, f"--jaxtyping-packages={packages}", f"--ignore={here}", str(here.parent), "-k", "not compiler"],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout[-3000:]
