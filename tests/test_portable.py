"""Headlight opens, reads and draws without what only Linux has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SENTENCES
from tests.model.adapters.zoo import save_chat_model
from tests.paths import ROOT


@pytest.mark.long
def test_models_open_and_the_app_draws_without_posix_and_utf_8(tmp_path: Path) -> None:
    """In a process from which both are gone, in a folder that looks like one of Windows."""
    folder = tmp_path / ("Modelle ü" if sys.platform == "win32" else "C:\\Modelle ü")
    save_chat_model(folder / "chat")
    pairs = zip(SENTENCES[::2], SENTENCES[1::2], strict=True)
    (folder / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "portable"), str(ROOT)]),
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "",
        "PYTHONWARNDEFAULTENCODING": "1",
        "USERNAME": "student",
        "HOME": str(folder),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.portable.open_trace_draw", str(folder)],
        cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Zażółć 猫." in done.stdout
    assert "Das Tier überquerte" in done.stdout
