"""What is imported when it is asked for, how threads wait, and how a computation is ended."""

import subprocess
import sys

import pytest

from tests.paths import ROOT

WITHOUT_TORCH = ("decoding.cost", "training_record")


@pytest.mark.parametrize(
    ("module", "asked", "found"),
    [
        ("model.later", "sorted(name for name in sys.modules if name.startswith('model'))", "['model', 'model.later']"),
        *((f"model.{counting}", "'torch' in sys.modules", "False") for counting in WITHOUT_TORCH),
    ],
)
def test_nothing_is_imported_before_it_is_needed(module: str, asked: str, found: str) -> None:
    program = f"import sys, {module}; print({asked})"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == found
