"""Headlight opens, reads and draws without what only Linux has, and no text depends on a system's own encoding."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SENTENCES
from tests.model.adapters.chats import save_chat_model
from tests.paths import ROOT

SOURCES = [
    ROOT / "app.py",
    *(path for name in ("model", "viz", "tests") for path in sorted((ROOT / name).rglob("*.py"))),
]
TEXT_MODES = {f"{way}{more}" for way in "rwax" for more in ("", "t", "+", "t+", "+t")}


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


def names_no_encoding(call: ast.Call) -> bool:
    """Whether a call reads or writes text in whatever encoding the system has."""
    given = {keyword.arg for keyword in call.keywords}
    if "encoding" in given:
        return False
    match call.func:
        case ast.Attribute(attr="read_text" | "write_text"):
            return True
        case ast.Attribute(value=ast.Name(id="subprocess")):
            return bool(given & {"text", "universal_newlines"})
        case ast.Name(id="open") | ast.Attribute(attr="open"):
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            has_mode = any(isinstance(value, ast.Constant) and value.value in TEXT_MODES for value in values)
            return has_mode or len(call.args) == isinstance(call.func, ast.Name)
    return False


def calls(path: Path) -> list[ast.Call]:
    """Calls of a file that calls any of them."""
    text = path.read_text(encoding="utf-8")
    if not re.search(r"\b(open|read_text|write_text|subprocess)\b", text):
        return []
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]


def test_every_text_that_is_read_or_written_names_its_encoding() -> None:
    """By its call, for what the process above does not run."""
    unnamed = [f"{path}:{call.lineno}" for path in SOURCES for call in calls(path) if names_no_encoding(call)]
    assert not unnamed


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("path.read_text()", True),
        ("path.write_text(text, newline='')", True),
        ("open(path)", True),
        ("path.open('a')", True),
        ("path.open()", True),
        ("open(path, mode='w')", True),
        ("subprocess.run(command, text=True)", True),
        ("open(path, 'rb')", False),
        ("path.open('a', encoding='utf-8')", False),
        ("archive.open(entry)", False),
        ("subprocess.run(command, capture_output=True)", False),
    ],
)
def test_a_call_without_an_encoding_is_known(code: str, expected: bool) -> None:
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    assert names_no_encoding(call) == expected
